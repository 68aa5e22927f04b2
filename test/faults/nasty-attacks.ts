import type { Nasty } from './nasty.ts';

/** What templates do against the machine, its limits, and whatever else runs on it. Whoever gets through ends with 99. */
type Script = (apply: string, plan?: string) => object;

const broke = '{ echo "it got through"; exit 99; }';

/** Each ends at its own limit, and others go on meanwhile. */
export function describeGreed(script: Script): Record<string, Nasty> {
  return {
    'fills its directory': {
      spec: script('head -c 5G /dev/zero > big; sleep 20'),
      ends: ['failed', 'directory_limit'],
    },
    'fills all places where it may write': {
      spec: script(
        'for place in . /tmp /dev/shm "$HOME" /var/tmp; do head -c 600M /dev/zero > $place/big; done; sleep 20',
      ),
      ends: ['failed', 'directory_limit'],
    },
    'starts processes without end': {
      spec: script('for i in $(seq 900); do sleep 717171 & done; wait'),
      ends: ['failed', 'process_limit'],
    },
    'is a fork bomb': {
      spec: script('bomb() { bomb | bomb & }; bomb; sleep 20'),
      ends: ['failed', 'process_limit'],
    },
    'takes all the memory': {
      spec: script(`perl -e 'my @held; push @held, "x" x 10000000 while 1'; sleep 20`),
      ends: ['failed', 'memory_limit'],
    },
    'takes all the memory by many small processes': {
      spec: script(`for i in $(seq 80); do perl -e 'my $held = "x" x 50000000; sleep 20' & done; wait`),
      ends: ['failed', 'memory_limit'],
    },
    'opens files without end': {
      spec: script(`perl -e 'my @held; while (open my $file, "<", "/dev/null") { push @held, $file } sleep 20'`),
      ends: ['failed', 'open_files_limit'],
    },
    'takes all the processors': {
      spec: script('for i in $(seq 16); do timeout 8 sh -c "while :; do :; done" & done; wait; true'),
      ends: ['succeeded', null],
    },
  };
}

/** Each tries to leave its sandbox, and ends well because nothing of it works. */
export function describeEscapes(script: Script): Record<string, Nasty> {
  return {
    'kills everything': { spec: script('kill -9 -1; kill -9 1; sleep 5'), ends: ['failed', 'step_failed'] },
    'asks the process above it for an inspector': {
      spec: script(
        `kill -USR1 1; sleep 1
         for port in 9229 9230; do (exec 3<>/dev/tcp/127.0.0.1/$port) 2>/dev/null && ${broke}; done; true`,
      ),
      ends: ['succeeded', null],
    },
    'reads the processes of the machine': {
      spec: script(
        `[ "$(ls -d /proc/[0-9]* | wc -l)" -lt 20 ] || ${broke}
         cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' '\\n' | grep -E 'DATABASE[_]URL|SECRET[_]KEYS|src/main[.]ts' && ${broke}; true`,
      ),
      ends: ['succeeded', null],
    },
    'asks for shared memory that outlives it': {
      spec: script(`perl -e 'exit(defined shmget(0, 50000000, 0600) ? 0 : 1)' && ${broke}; true`),
      ends: ['succeeded', null],
    },
    'makes namespaces and mounts': {
      spec: script(
        `unshare -Ur true && ${broke}; unshare -n true && ${broke}; mount -t tmpfs none /mnt && ${broke}
         chroot / true && ${broke}; mknod disk b 8 0 && ${broke}; true`,
      ),
      ends: ['succeeded', null],
    },
    'writes where the system is': {
      spec: script(
        `for place in / /usr /usr/bin /etc /run /run/coordinator /run/coordinator/input /proc/sys/kernel/hostname; do
           (echo x > $place/x || echo x > $place) 2>/dev/null && ${broke}; done; true`,
      ),
      ends: ['succeeded', null],
    },
    'calls sockets of the machine': {
      spec: script(
        `find / -type s 2>/dev/null | grep -v '^/run/coordinator/relay/socket$' && ${broke}
         grep -E '@|/(run|tmp)/' /proc/net/unix && ${broke}; true`,
      ),
      ends: ['succeeded', null],
    },
    'calls the metadata of the cloud': {
      spec: script(
        `(exec 3<>/dev/tcp/169.254.169.254/80) 2>/dev/null && ${broke}
         answer=$( (printf 'CONNECT 169.254.169.254:80 HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n'; sleep 2) | socat - TCP4:127.0.0.1:61280 | head -1)
         case "$answer" in *" 200 "*) ${broke};; esac; true`,
      ),
      ends: ['succeeded', null],
    },
    'leaves links for the service to follow': {
      spec: script('ln -s /etc/shadow outputs.json; ln -s /proc/1/environ state.json'),
      ends: ['failed', 'state_invalid'],
    },
    'leaves a directory of links as its plan': {
      spec: script('true', 'rmdir plan; ln -s /etc plan; echo "[]" > plan.json'),
      ends: ['failed', 'plan_invalid'],
    },
    'speaks for the service': {
      spec: script(
        `for descriptor in 3 4 5 6 7; do echo 'end 0 0' >&$descriptor; echo ready >&$descriptor; done 2>/dev/null
         for process in /proc/[0-9]*; do echo 'end 0 0' > $process/fd/3; done 2>/dev/null; exit 7`,
      ),
      ends: ['failed', 'step_failed'],
    },
    'keeps its descriptors open': {
      spec: script('exec 8>outputs.json; setsid sh -c "sleep 717171" 9>&8 & echo "{}" > outputs.json; true'),
      ends: ['succeeded', null],
    },
    'swaps its directories while they are removed': {
      spec: script(
        `mkdir -p a/b; (setsid sh -c 'while :; do mv a c; ln -s / a; rm -f a; mv c a; done' >/dev/null 2>&1 &)
         sleep 1; true`,
      ),
      ends: ['succeeded', null],
    },
  };
}
