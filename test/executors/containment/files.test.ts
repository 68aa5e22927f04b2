import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { isRoot, type WorkerProcess } from '../worker/worker-process.ts';
import { describeProbes, type Probe } from './probes.ts';

/** What a template must not read: files of the machine, the service, and its worker. Each is put where everybody may read it. */
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
/** Only root may write there. */
const machinePlaces = isRoot
  ? ['/etc', '/root', '/opt', '/srv', '/var/lib', '/var/log', '/home', '/mnt', '/media', '/run', '/boot', '/var/tmp']
  : [];
const machineFiles = machinePlaces.map((place) => plant(join(place, `coordinator-test-${process.pid}`)));
afterAll(() => {
  for (const path of planted) rmSync(path, { force: true });
  rmSync(scratch, { recursive: true });
});

const sources = process.cwd();

function readingProbes({ place, directory, pid, hostPid }: WorkerProcess): Probe[] {
  const inHome = plant(join(place, 'credentials'));
  return [
    ...[...machineFiles, inTemporary].map((path) => ({
      name: `read a file below ${path
        .split('/')
        .slice(0, path.startsWith('/var') ? 3 : 2)
        .join('/')}`,
      script: `cat ${path}`,
      works: new RegExp(key),
    })),
    { name: "read a file of the worker's home", script: `cat ${inHome}`, works: new RegExp(key) },
    { name: "list the directory of the worker's executor", script: `ls ${directory}`, works: /host-/ },
    { name: 'read the sources of the service', script: `cat ${sources}/package.json`, works: /delivery-coordinator/ },
    {
      name: 'reach the files of the machine through the roots of other processes',
      script: `for p in 1 ${pid} ${hostPid} 2 3; do cat /proc/$p/root${inTemporary} /proc/$p/cwd/..${inTemporary}; done`,
      works: new RegExp(key),
    },
    {
      name: 'find the key by looking everywhere',
      script: `find /etc /opt /srv /home /var /run /tmp /mnt /root -maxdepth 3 \\( -name 'coordinator-test-${process.pid}' -o -path '${scratch}/*' \\) -type f 2>/dev/null | xargs -r cat`,
      works: new RegExp(key),
    },
    { name: 'read the password file of the machine', script: 'cat /etc/shadow', works: /root:/ },
    {
      name: 'see control groups, modules or devices of the machine',
      script: 'ls -d /sys/fs /sys/module /sys/block /sys/class /sys/kernel 2>/dev/null',
      works: /\/sys\/module/,
    },
    {
      name: 'see disks of the machine',
      script: 'ls /dev | grep -E "^(sd|vd|nvme|xvd|loop|mem|kmsg|dm-|fuse|kvm|mapper)"',
      works: /vd|sd|nvme|xvd|loop|mem|kmsg|fuse/,
    },
    { name: 'read the log of the kernel', script: 'dmesg | head -3; head -c 20 /dev/kmsg', works: /\[ *\d|\d+,\d+,/ },
    {
      name: 'read the memory of the machine',
      script: 'head -c 4 /proc/kcore | od -c',
      works: /E\s+L\s+F/,
      notOutside: 'not every kernel offers it',
    },
  ];
}

const names = [
  ...machinePlaces.map((place) => `read a file below ${place}`),
  'read a file below /tmp',
  "read a file of the worker's home",
  "list the directory of the worker's executor",
  'read the sources of the service',
  'reach the files of the machine through the roots of other processes',
  'find the key by looking everywhere',
  ...(isRoot ? ['read the password file of the machine'] : []),
  'see control groups, modules or devices of the machine',
  'see disks of the machine',
  ...(isRoot ? ['read the log of the kernel', 'read the memory of the machine'] : []),
];
describeProbes('files that are not its own', names, readingProbes);

const write = (path: string) => `touch ${path} && echo wrote-it && rm -f ${path}`;
const wrote = /wrote-it/;

function writingProbes(): Probe[] {
  const inside = (script: string) => ({ script, works: wrote, notOutside: 'these paths exist in sandboxes alone' });
  return [
    ...['/usr', '/usr/bin', '/usr/local/bin', '/etc', '/bin', '/', '/var', '/run', '/dev'].map((place) => ({
      name: `write to ${place}`,
      script: write(`${place}/coordinator-test-${process.pid}`),
      works: wrote,
      ...(!isRoot && { notOutside: 'only root may write there' }),
    })),
    { name: 'write to /run/coordinator', ...inside(write('/run/coordinator/x')) },
    { name: 'write to its input', ...inside(write('/run/coordinator/input/x')) },
    { name: 'change the script that runs it', ...inside('echo x >> /run/coordinator/script && echo wrote-it') },
    { name: 'remove the script that runs it', ...inside('rm /run/coordinator/script && echo wrote-it') },
    {
      name: 'change settings of the kernel',
      ...inside(
        'for f in kernel/hostname vm/overcommit_memory fs/file-max; do cat /proc/sys/$f > /proc/sys/$f && echo wrote-it; done',
      ),
    },
    { name: 'trigger system requests', ...inside('echo h > /proc/sysrq-trigger && echo wrote-it') },
    {
      name: 'make a device',
      script: 'mknod disk b 7 0 && echo wrote-it; rm -f disk',
      works: wrote,
      ...(!isRoot && { notOutside: 'only root may' }),
    },
    {
      name: 'make what it may write writable for others by mounting it again',
      ...inside(
        'mount -o remount,rw / && echo wrote-it; mount --bind /tmp /usr && echo wrote-it; mount -t tmpfs x /mnt && echo wrote-it',
      ),
    },
    {
      name: 'write where its root would be',
      ...inside('mkdir /escape && echo wrote-it; ln -s / /tmp/../escape && echo wrote-it'),
    },
  ];
}
describeProbes(
  'places that are not its own',
  writingProbes().map(({ name }) => name),
  writingProbes,
);
