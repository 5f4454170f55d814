#!/bin/bash
# A sweep as an array of Slurm, one task for each of its commands:
#   sbatch --array=0-$(($(vnd sweep hover.yaml --count) - 1)) slurm.sh hover.yaml
# Several processes for each command: --ntasks=4, and before vnd mpirun --mca odls_base_sigkill_timeout 20, which gives
# them 20 s, not one, to keep what they have when time is up. It waits as long before it tells them, so 60 s is enough.
#SBATCH --job-name=vnd
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=2
#SBATCH --time=01:00:00
#SBATCH --output=%x-%A-%a.log
#SBATCH --signal=B:TERM@60
set -euo pipefail
exec vnd sweep "$1" # SLURM_ARRAY_TASK_ID says which
