package dds

// Security has the paths of a participant's identity and permissions (DDS Security
// 1.1, 9.3.1 and 9.4.1): X.509 certificates and a key in PEM, and XML that is signed
// by the permissions' authority (S/MIME).
type Security struct {
	IdentityCA, Certificate, PrivateKey    string // identity
	PermissionsCA, Governance, Permissions string
	RevocationList                         string // of certificates; may be empty
}
