import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { isRoot, type WorkerProcess } from '../worker/worker-process.ts';
import { describeProbes, type Probe } from './probes.ts';

/** Files that a template must not read: those of the machine, the service and its worker. Each has permissions that let everyone read it. */
const key = `planted-key-${process.pid}`;
const planted: string[] = [];

function plant(path: string): string {
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(path, `${key}\n`, { mode: 0o644 });
  chmodSync(path, 0o644);
  planted.push(path);
  return path;
}

const scratch = mkdtempSync(join(tmpdir(), 'coordinator-test-planted-'));
chmodSync(scratch, 0o755);
const inTemporary = plant(join(scratch, 'data', 'secret-keys'));
/** Only root can write there. */
const machineDirectories = isRoot
  ? ['/etc', '/root', '/opt', '/srv', '/var/lib', '/var/log', '/home', '/mnt', '/media', '/run', '/boot', '/var/tmp']
  : [];
const machineFiles = machineDirectories.map((directory) => plant(join(directory, `coordinator-test-${process.pid}`)));
afterAll(() => {
  for (const path of planted) rmSync(path, { force: true });
  rmSync(scratch, { recursive: true });
});

const sources = process.cwd();

function readingProbes({ home, directory, pid, hostPid }: WorkerProcess): Probe[] {
  const inHome = plant(join(home, 'credentials'));
  return [
    ...[...machineFiles, inTemporary].map((path) => ({
      name: `read a file below ${path
        .split('/')
        .slice(0, path.startsWith('/var') ? 3 : 2)
        .join('/')}`,
      script: `cat ${path}`,
      works: new RegExp(key),
    })),
    { name: "read a file in the worker's home", script: `cat ${inHome}`, works: new RegExp(key) },
    { name: "list the directory of the worker's executor", script: `ls ${directory}`, works: /host-/ },
    { name: "read the service's source code", script: `cat ${sources}/package.json`, works: /delivery-coordinator/ },
    {
      name: "reach the machine's files through the roots of other processes",
      script: `for p in 1 ${pid} ${hostPid} 2 3; do cat /proc/$p/root${inTemporary} /proc/$p/cwd/..${inTemporary}; done`,
      works: new RegExp(key),
    },
    {
      name: 'find the key by searching everywhere',
      script: `find /etc /opt /srv /home /var /run /tmp /mnt /root -maxdepth 3 \\( -name 'coordinator-test-${process.pid}' -o -path '${scratch}/*' \\) -type f 2>/dev/null | xargs -r cat`,
      works: new RegExp(key),
    },
    { name: "read the machine's password file", script: 'cat /etc/shadow', works: /root:/ },
    {
      name: "see the machine's control groups, modules or devices",
      script: 'ls -d /sys/fs /sys/module /sys/block /sys/class /sys/kernel 2>/dev/null',
      works: /\/sys\/module/,
    },
    {
      name: "see the machine's disks",
      script: 'ls /dev | grep -E "^(sd|vd|nvme|xvd|loop|mem|kmsg|dm-|fuse|kvm|mapper)"',
      works: /vd|sd|nvme|xvd|loop|mem|kmsg|fuse/,
    },
    { name: "read the kernel's log", script: 'dmesg | head -3; head -c 20 /dev/kmsg', works: /\[ *\d|\d+,\d+,/ },
    {
      name: "read the machine's memory",
      script: 'head -c 4 /proc/kcore | od -c',
      works: /E\s+L\s+F/,
      notOutside: 'not every kernel offers it',
    },
  ];
}

const names = [
  ...machineDirectories.map((directory) => `read a file below ${directory}`),
  'read a file below /tmp',
  "read a file in the worker's home",
  "list the directory of the worker's executor",
  "read the service's source code",
  "reach the machine's files through the roots of other processes",
  'find the key by searching everywhere',
  ...(isRoot ? ["read the machine's password file"] : []),
  "see the machine's control groups, modules or devices",
  "see the machine's disks",
  ...(isRoot ? ["read the kernel's log", "read the machine's memory"] : []),
];
describeProbes('files outside the sandbox', names, readingProbes);

const write = (path: string) => `touch ${path} && echo wrote-it && rm -f ${path}`;
const wrote = /wrote-it/;

function writingProbes(): Probe[] {
  const inside = (script: string) => ({ script, works: wrote, notOutside: 'these paths exist only in sandboxes' });
  return [
    ...['/usr', '/usr/bin', '/usr/local/bin', '/etc', '/bin', '/', '/var', '/run', '/dev'].map((directory) => ({
      name: `write to ${directory}`,
      script: write(`${directory}/coordinator-test-${process.pid}`),
      works: wrote,
      ...(!isRoot && { notOutside: 'only root can write there' }),
    })),
    { name: 'write to /run/coordinator', ...inside(write('/run/coordinator/x')) },
    { name: 'write to its input', ...inside(write('/run/coordinator/job/input/x')) },
    { name: 'change the script that runs it', ...inside('echo x >> /run/coordinator/job/script && echo wrote-it') },
    { name: 'remove the script that runs it', ...inside('rm /run/coordinator/job/script && echo wrote-it') },
    {
      name: "change the kernel's settings",
      ...inside(
        'for f in kernel/hostname vm/overcommit_memory fs/file-max; do cat /proc/sys/$f > /proc/sys/$f && echo wrote-it; done',
      ),
    },
    { name: 'trigger system requests', ...inside('echo h > /proc/sysrq-trigger && echo wrote-it') },
    {
      name: 'make a device',
      script: 'mknod disk b 7 0 && echo wrote-it; rm -f disk',
      works: wrote,
      ...(!isRoot && { notOutside: 'only root can' }),
    },
    {
      name: 'make read-only directories writable by mounting them again',
      ...inside(
        'mount -o remount,rw / && echo wrote-it; mount --bind /tmp /usr && echo wrote-it; mount -t tmpfs x /mnt && echo wrote-it',
      ),
    },
    {
      name: 'write to the root directory',
      ...inside('mkdir /escape && echo wrote-it; ln -s / /tmp/../escape && echo wrote-it'),
    },
  ];
}
describeProbes(
  'directories outside the sandbox',
  writingProbes().map(({ name }) => name),
  writingProbes,
);
