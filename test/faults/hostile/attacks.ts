import type { HostileTemplate } from './templates.ts';

/** The attacks of templates on their limits, the machine, and its other processes. An attack that succeeds exits with 99. */
type Script = (apply: string, plan?: string) => object;

const succeeded = '{ echo "the attack succeeded"; exit 99; }';

/** Each one ends at its limit while other work continues. */
export function describeGreedyTemplates(script: Script): Record<string, HostileTemplate> {
  return {
    'fills its directory': {
      spec: script('head -c 5G /dev/zero > big; sleep 20'),
      ends: ['failed', 'directory_limit'],
    },
    'fills every directory that it may write to': {
      spec: script(
        'for place in . /tmp /dev/shm "$HOME" /var/tmp; do head -c 600M /dev/zero > $place/big; done; sleep 20',
      ),
      ends: ['failed', 'directory_limit'],
    },
    'starts processes endlessly': {
      spec: script('for i in $(seq 900); do sleep 717171 & done; wait'),
      ends: ['failed', 'process_limit'],
    },
    'is a fork bomb': {
      spec: script('bomb() { bomb | bomb & }; bomb; sleep 20'),
      ends: ['failed', 'process_limit'],
    },
    'uses all the memory': {
      spec: script(`perl -e 'my @held; push @held, "x" x 10000000 while 1'; sleep 20`),
      ends: ['failed', 'memory_limit'],
    },
    'uses all the memory by many small processes': {
      spec: script(`for i in $(seq 80); do perl -e 'my $held = "x" x 50000000; sleep 20' & done; wait`),
      ends: ['failed', 'memory_limit'],
    },
    'opens files endlessly': {
      spec: script(`perl -e 'my @held; while (open my $file, "<", "/dev/null") { push @held, $file } sleep 20'`),
      ends: ['failed', 'open_files_limit'],
    },
    'uses all the processors': {
      spec: script('for i in $(seq 16); do timeout 8 sh -c "while :; do :; done" & done; wait; true'),
      ends: ['succeeded', null],
    },
  };
}

/** Each one tries to escape from its sandbox, and succeeds as a run because every attempt fails. */
export function describeEscapingTemplates(script: Script): Record<string, HostileTemplate> {
  return {
    'kills everything': { spec: script('kill -9 -1; kill -9 1; sleep 5'), ends: ['failed', 'step_failed'] },
    'tries to open a debugger in its parent process': {
      spec: script(
        `kill -USR1 1; sleep 1
         for port in 9229 9230; do (exec 3<>/dev/tcp/127.0.0.1/$port) 2>/dev/null && ${succeeded}; done; true`,
      ),
      ends: ['succeeded', null],
    },
    'reads the processes of the machine': {
      spec: script(
        `[ "$(ls -d /proc/[0-9]* | wc -l)" -lt 20 ] || ${succeeded}
         cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' '\\n' | grep -E 'DATABASE[_]URL|SECRET[_]KEYS|src/main[.]ts' && ${succeeded}; true`,
      ),
      ends: ['succeeded', null],
    },
    'creates shared memory that outlives it': {
      spec: script(`perl -e 'exit(defined shmget(0, 50000000, 0600) ? 0 : 1)' && ${succeeded}; true`),
      ends: ['succeeded', null],
    },
    'creates namespaces and mounts': {
      spec: script(
        `unshare -Ur true && ${succeeded}; unshare -n true && ${succeeded}; mount -t tmpfs none /mnt && ${succeeded}
         chroot / true && ${succeeded}; mknod disk b 8 0 && ${succeeded}; true`,
      ),
      ends: ['succeeded', null],
    },
    'writes to system directories': {
      spec: script(
        `for place in / /usr /usr/bin /etc /run /run/coordinator /run/coordinator/input /proc/sys/kernel/hostname; do
           (echo x > $place/x || echo x > $place) 2>/dev/null && ${succeeded}; done; true`,
      ),
      ends: ['succeeded', null],
    },
    'connects to sockets of the machine': {
      spec: script(
        `find / -type s 2>/dev/null | grep -v '^/run/coordinator/relay/socket$' && ${succeeded}
         grep -E '@|/(run|tmp)/' /proc/net/unix && ${succeeded}; true`,
      ),
      ends: ['succeeded', null],
    },
    'connects to the metadata service of the cloud': {
      spec: script(
        `(exec 3<>/dev/tcp/169.254.169.254/80) 2>/dev/null && ${succeeded}
         answer=$( (printf 'CONNECT 169.254.169.254:80 HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n'; sleep 2) | socat - TCP4:127.0.0.1:61280 | head -1)
         case "$answer" in *" 200 "*) ${succeeded};; esac; true`,
      ),
      ends: ['succeeded', null],
    },
    'leaves links for the service to follow': {
      spec: script('ln -s /etc/shadow outputs.json; ln -s /proc/1/environ state.json'),
      ends: ['failed', 'state_invalid'],
    },
    'leaves a link in place of its plan directory': {
      spec: script('true', 'rmdir plan; ln -s /etc plan; echo "[]" > plan.json'),
      ends: ['failed', 'plan_invalid'],
    },
    'imitates the service': {
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
    'replaces its directories while they are removed': {
      spec: script(
        `mkdir -p a/b; (setsid sh -c 'while :; do mv a c; ln -s / a; rm -f a; mv c a; done' >/dev/null 2>&1 &)
         sleep 1; true`,
      ),
      ends: ['succeeded', null],
    },
  };
}
