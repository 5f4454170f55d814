// sgemm anchors. usage: gemm_bench lib.so|xsmm|dnnl nthreads ; row-major C[MxN]=A[MxK]B[KxN], best and median GFLOP/s;
// gemm_bench copy: what two threads read and write of memory, GB/s.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#ifdef XSMM
#include <libxsmm.h>
#else // built without -DXSMM, -lxsmm: that library is left out
typedef void (*libxsmm_smmfunction)(const float*,const float*,float*);
enum{LIBXSMM_GEMM_FLAG_NONE,LIBXSMM_GEMM_PREFETCH_NONE};
static libxsmm_smmfunction libxsmm_smmdispatch(int n,int m,int k,int*a,int*b,int*c,float*al,float*be,int*f,int*p){return 0;}
static void libxsmm_init(void){}
#endif
#include <dnnl.h>
static double now(){struct timespec t;clock_gettime(CLOCK_MONOTONIC,&t);return t.tv_sec+1e-9*t.tv_nsec;}
typedef void (*cblas_t)(int,int,int,int,int,int,float,const float*,int,const float*,int,float,float*,int);
static cblas_t cb; static int mode; // 0 cblas 1 xsmm 2 dnnl
static int T;
typedef struct {int m,n,k;float*a,*b,*c; long reps; pthread_barrier_t*bar; double best; double med;} job;
static int cmp(const void*a,const void*b){double x=*(double*)a,y=*(double*)b;return x<y?-1:x>y;}
static void one(job*j,libxsmm_smmfunction f){
  if(mode==0) cb(101,111,111,j->m,j->n,j->k,1,j->a,j->k,j->b,j->n,0,j->c,j->n);
  else if(mode==1) f(j->b,j->a,j->c); else dnnl_sgemm('N','N',j->m,j->n,j->k,1,j->a,j->k,j->b,j->n,0,j->c,j->n);
}
static void*run(void*v){ job*j=v; libxsmm_smmfunction f=0;
  if(mode==1){ float al=1,be=0; int fl=LIBXSMM_GEMM_FLAG_NONE; int lda=j->n,ldb=j->k,ldc=j->n; int pf=LIBXSMM_GEMM_PREFETCH_NONE; f=libxsmm_smmdispatch(j->n,j->m,j->k,&lda,&ldb,&ldc,&al,&be,&fl,&pf); if(!f){j->best=j->med=-1;return 0;} }
  double ts[15]; for(int i=0;i<2;i++) one(j,f);
  for(int s=0;s<15;s++){ if(j->bar)pthread_barrier_wait(j->bar); double t=now(); for(long r=0;r<j->reps;r++) one(j,f); ts[s]=(now()-t)/j->reps; }
  qsort(ts,15,8,cmp); double fl=2.0*j->m*j->n*j->k; j->best=fl/ts[0]/1e9; j->med=fl/ts[7]/1e9; return 0; }
static job mk(int m,int n,int k,pthread_barrier_t*b){ job j={m,n,k}; j.a=aligned_alloc(64,4L*m*k); j.b=aligned_alloc(64,4L*n*k); j.c=aligned_alloc(64,4L*m*n); for(long i=0;i<(long)m*k;i++)j.a[i]=(i%17)*.1f-.8f; for(long i=0;i<(long)n*k;i++)j.b[i]=(i%13)*.1f-.6f; memset(j.c,0,4L*m*n); double fl=2.0*m*n*k; j.reps=fl>1e10?1:(long)(3e9/fl)+1; j.bar=b; return j; }
static void*copy(void*v){ job*j=v; long n=1L<<28; char*a=aligned_alloc(64,n),*b=aligned_alloc(64,n); memset(a,1,n); memset(b,2,n); double best=1e9;
  for(int i=0;i<9;i++){ pthread_barrier_wait(j->bar); double t=now(); memcpy(a,b,n); t=now()-t; if(t<best)best=t; } j->best=2e-9*n/best; return 0; }
int main(int c,char**v){ if(c==2&&!strcmp(v[1],"copy")){ pthread_barrier_t b; pthread_barrier_init(&b,0,2); job x={.bar=&b},y={.bar=&b}; pthread_t p;
    pthread_create(&p,0,copy,&y); copy(&x); pthread_join(p,0); printf("copy 2 threads best %.1f GB/s\n",x.best+y.best); return 0; }
  T=atoi(v[2]);
  if(!strcmp(v[1],"xsmm")){mode=1;libxsmm_init();} else if(!strcmp(v[1],"dnnl")) mode=2;
  else { void*h=dlopen(v[1],RTLD_NOW|RTLD_GLOBAL); if(!h){puts(dlerror());return 1;} cb=(cblas_t)dlsym(h,"cblas_sgemm"); }
  // library threading (env set to T by caller) for one call; shapes
  int sh[][3]={{512,256,256},{256,256,256},{512,256,64},{512,14+2,256},{4096,4096,4096}};
  for(int i=0;i<5;i++){ if(mode==1&&(T==2||i==4)) continue; job j=mk(sh[i][0],sh[i][1],sh[i][2],0); if(i==4) j.reps=1; run(&j); printf("%-10s libthreads=%d %dx%dx%d median %.1f best %.1f GFLOP/s\n",v[1]+ (strlen(v[1])>10?strlen(v[1])-10:0),T,j.m,j.n,j.k,j.med,j.best); fflush(stdout);}
  if(T==1){ // two app threads, each single-threaded library, private 256x256x256
    pthread_barrier_t b; pthread_barrier_init(&b,0,2); job j0=mk(256,256,256,&b),j1=mk(256,256,256,&b); pthread_t p; pthread_create(&p,0,run,&j1); run(&j0); pthread_join(p,0);
    printf("%-10s 2 app threads x 256x256x256 median %.1f+%.1f best %.1f+%.1f GFLOP/s\n",v[1]+ (strlen(v[1])>10?strlen(v[1])-10:0),j0.med,j1.med,j0.best,j1.best); }
}
