#!/bin/sh
# Runs four ranks under a Slurm of one node, plain and with --mpi=pmi2, and compares their
# losses with those of shm. Not a ctest: it needs root, slurm-wlm and munge, and starts
# their daemons, whose files lie in a folder of its own; the daemons end with it.
#
# usage: slurm.sh BIN_DIR
set -eu
bin=$(cd "$1" && pwd)
for tool in munged slurmctld slurmd srun; do
  command -v "$tool" >/dev/null || {
    echo "slurm.sh: expected $tool; install slurm-wlm and munge" >&2; exit 1; }
done
at=$(mktemp -d)
host=$(hostname -s)
export SLURM_CONF="$at/slurm.conf" MTC_JOB_SECRET="of a test"
pids=
end() {
  for pid in $pids; do kill "$pid" 2>/dev/null || :; done
  wait 2>/dev/null || :
  rm -rf "$at"
}
trap end EXIT

mkdir "$at/state" "$at/spool"
head -c 1024 /dev/urandom >"$at/key"
chmod 400 "$at/key"
munged --foreground --key-file "$at/key" --socket "$at/munge" --pid-file "$at/munge.pid" \
  --log-file "$at/munge.log" --seed-file "$at/seed" --force 2>/dev/null &
pids="$pids $!"
cat >"$SLURM_CONF" <<C
ClusterName=one
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$at/munge
SlurmctldPort=16817
SlurmdPort=16818
StateSaveLocation=$at/state
SlurmdSpoolDir=$at/spool
SlurmctldPidFile=$at/ctld.pid
SlurmdPidFile=$at/d.pid
SlurmctldLogFile=$at/ctld.log
SlurmdLogFile=$at/d.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SchedulerType=sched/builtin
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
MpiDefault=none
ReturnToService=2
SlurmdParameters=config_overrides
NodeName=$host NodeAddr=127.0.0.1 CPUs=4 State=UNKNOWN
PartitionName=p Nodes=$host Default=YES MaxTime=INFINITE State=UP
C
sleep 1
slurmctld -D -i >/dev/null 2>&1 &
pids="$pids $!"
sleep 1
slurmd -D >/dev/null 2>&1 &
pids="$pids $!"
for _ in 1 2 3 4 5 6 7 8 9 10; do
  sinfo -h -o %t 2>/dev/null | grep -q idle && break
  sleep 1
done

"$bin/mtc" compile gpt2-nano --tp 2 --pp 2 --gbs 16 -o "$at/nano.mtc" >/dev/null
head -c 100000 "$0" | tr -d '\n' >"$at/tokens"
while [ "$(wc -c <"$at/tokens")" -lt 20000 ]; do cat "$at/tokens" >>"$at/more"; cat "$at/more" >>"$at/tokens"; done
train() {
  log=$1
  shift
  "$@" "$bin/mtc" run "$at/nano.mtc" --data "$at/tokens" --data-type u8 --steps 3 --quiet --log "$log"
}
# But for the header, which says when a run began.
losses() { grep -v '"header"' "$1" | sed 's/, "lr".*//'; }
train "$at/shm.jsonl" env
train "$at/plain.jsonl" srun -n 4
train "$at/pmi2.jsonl" srun -n 4 --mpi=pmi2
for log in plain pmi2; do
  losses "$at/shm.jsonl" >"$at/a"
  losses "$at/$log.jsonl" >"$at/b"
  cmp "$at/a" "$at/b" || { echo "slurm.sh: $log has other losses than shm" >&2; exit 1; }
done
echo "slurm.sh: srun and srun --mpi=pmi2 have the losses of shm"
losses "$at/shm.jsonl"
