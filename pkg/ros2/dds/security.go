package dds

// Security names the files that say who a participant is and what it may do (DDS
// Security 1.1, 9.3.1 and 9.4.1): X.509 certificates and a key in PEM, and XML that
// the permissions' authority has signed (S/MIME).
type Security struct {
	IdentityCA, Certificate, PrivateKey    string // who
	PermissionsCA, Governance, Permissions string // what
	RevocationList                         string // of certificates; may be empty
}
