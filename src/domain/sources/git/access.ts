import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { connect, isIP } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Unprocessable } from '#domain/shared/errors.ts';
import { type Destination, pinTo } from '#domain/shared/outbound/outbound.ts';
import { findGitUser } from './user.ts';

/** The credential of a repository. It comes from a connection. */
export type GitCredential =
  | { readonly kind: 'password'; readonly username: string; readonly password: string }
  | { readonly kind: 'ssh_key'; readonly privateKey: string; readonly knownHosts: string };

/**
 * Writes the configuration and the credential of one fetch into its private directory (mode 0600), and returns the environment
 * variables that git needs to use them. Git may use only one protocol and only the addresses that were checked. Redirects,
 * hooks, proxies and the machine's own configuration are off.
 * @throws Unprocessable if the credential does not fit the kind of URL
 */
export async function prepareAccess(
  directory: string,
  destination: Destination,
  credential: GitCredential | undefined,
): Promise<Record<string, string>> {
  const protocol = destination.url.protocol.slice(0, -1);
  const helper = await writePassword(directory, destination.url, credential);
  const sections = [
    section('protocol', { allow: 'never' }),
    section(`protocol "${protocol}"`, { allow: 'always' }),
    section('http', { followRedirects: 'false', proxy: '', lowSpeedLimit: '1', lowSpeedTime: '20' }),
    section('http', pinAddresses(destination)),
    section('credential', helper),
    section('core', { hooksPath: '/dev/null', bigFileThreshold: '1m', askPass: '' }),
    // The memory of git is limited, and mapped parts of a pack count.
    section('core', { packedGitWindowSize: '16m', packedGitLimit: '64m', deltaBaseCacheLimit: '16m' }),
    section('pack', { threads: '1', windowMemory: '64m' }),
    // Always keep one pack, so that the limit on the size of a file applies to everything that is fetched.
    section('fetch', { unpackLimit: '1', recurseSubmodules: 'false', writeCommitGraph: 'false' }),
    section('gc', { auto: '0' }),
    section('maintenance', { auto: 'false' }),
    protocol === 'file' ? section('safe', { directory: '*' }) : '',
  ];
  await writePrivately(join(directory, 'gitconfig'), sections.join(''));
  const ssh = protocol === 'ssh' ? await prepareSsh(directory, destination, credential) : {};
  return { GIT_ALLOW_PROTOCOL: protocol, ...ssh };
}

/** Gives curl the checked addresses, so that it does not resolve the name again. */
function pinAddresses({ url, addresses }: Destination): Record<string, string> {
  const host = url.hostname;
  if (!url.protocol.startsWith('http') || isIP(host.replace(/^\[|\]$/g, ''))) return {};
  const port = url.port || (url.protocol === 'http:' ? '80' : '443');
  const listed = addresses.map((address) => (isIP(address) === 6 ? `[${address}]` : address));
  return { curloptResolve: `${host}:${port}:${listed.join(',')}` };
}

/** Configures git's own credential store, which gives the credential only for this scheme, host and port. */
async function writePassword(
  directory: string,
  url: URL,
  credential: GitCredential | undefined,
): Promise<Record<string, string>> {
  if (credential === undefined || !url.protocol.startsWith('http')) return {};
  if (credential.kind !== 'password')
    throw new Unprocessable('an SSH key opens ssh:// repositories only', { code: 'source_credential_unfit' });
  const user = encodeURIComponent(credential.username);
  const path = join(directory, 'credentials');
  await writePrivately(path, `${url.protocol}//${user}:${encodeURIComponent(credential.password)}@${url.host}\n`);
  return { helper: `store --file=${quoteForShell(path)}` };
}

async function prepareSsh(
  directory: string,
  { url, addresses }: Destination,
  credential: GitCredential | undefined,
): Promise<Record<string, string>> {
  if (credential?.kind !== 'ssh_key') {
    throw new Unprocessable('an ssh:// repository needs a connection with a private key and the keys of its host', {
      code: 'source_credential_unfit',
    });
  }
  const [key, hosts] = [join(directory, 'key'), join(directory, 'known_hosts')];
  await writePrivately(key, `${credential.privateKey.trimEnd()}\n`);
  await writePrivately(hosts, `${credential.knownHosts.trimEnd()}\n`);
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const options = {
    BatchMode: 'yes',
    IdentityFile: key,
    IdentitiesOnly: 'yes',
    IdentityAgent: 'none',
    StrictHostKeyChecking: 'yes',
    UserKnownHostsFile: hosts,
    GlobalKnownHostsFile: '/dev/null',
    HostName: (await findAnswering(url, addresses)) ?? addresses[0] ?? host,
    HostKeyAlias: url.port === '' || url.port === '22' ? host : `[${host}]:${url.port}`,
    CheckHostIP: 'no',
    UpdateHostKeys: 'no',
    ProxyCommand: 'none',
    ClearAllForwardings: 'yes',
    ForwardAgent: 'no',
    PermitLocalCommand: 'no',
    ConnectTimeout: '15',
  };
  const listed = Object.entries(options).map(([name, value]) => `-o ${quoteForShell(`${name}=${value}`)}`);
  const ssh = [...(await giveUserName(directory)), 'ssh', '-F', 'none', ...listed].join(' ');
  return { GIT_SSH_COMMAND: ssh, GIT_SSH_VARIANT: 'ssh' };
}

/**
 * The first of the checked addresses that accepts a connection, since ssh gets only one address. Undefined if none does, or if there is
 * only one.
 */
async function findAnswering({ port }: URL, addresses: readonly string[]): Promise<string | undefined> {
  if (addresses.length < 2) return undefined;
  return new Promise((resolve) => {
    const socket = connect({
      host: 'checked.invalid',
      port: Number(port) || 22,
      lookup: pinTo(addresses),
      autoSelectFamily: true,
      timeout: 10_000,
    });
    const end = (address?: string) => {
      socket.destroy();
      resolve(address);
    };
    socket.once('connect', () => end(socket.remoteAddress));
    socket.once('error', () => end());
    socket.once('timeout', () => end());
  });
}

/**
 * The command to put before `ssh`. ssh refuses to run as a user without a name, so bubblewrap mounts a passwd file that names
 * the user.
 */
async function giveUserName(directory: string): Promise<string[]> {
  const uid = findGitUser()?.uid ?? process.getuid?.() ?? -1;
  if (await hasName(uid)) return [];
  const path = join(directory, 'passwd');
  await writePrivately(path, `coordinator:x:${uid}:${uid}::${directory}:/bin/sh\n`);
  const bind = (option: string, from: string, to: string) => [option, quoteForShell(from), quoteForShell(to)];
  return [
    'bwrap',
    ...bind('--ro-bind', '/', '/'),
    ...bind('--dev-bind', '/dev', '/dev'),
    ...bind('--bind', directory, directory),
    ...bind('--ro-bind', path, '/etc/passwd'),
    '--',
  ];
}

async function hasName(uid: number): Promise<boolean> {
  const users = await promisify(execFile)('id', ['-n', '-u', '--', String(uid)]).catch(() => null);
  return users !== null;
}

function section(name: string, values: Readonly<Record<string, string>>): string {
  const lines = Object.entries(values).map(([key, value]) => `\t${key} = ${quoteForGit(value)}\n`);
  return lines.length === 0 ? '' : `[${name}]\n${lines.join('')}`;
}

function quoteForGit(value: string): string {
  return `"${value.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
}

function quoteForShell(value: string): string {
  return `'${value.replaceAll("'", "'\\''")}'`;
}

async function writePrivately(path: string, text: string): Promise<void> {
  await writeFile(path, text, { mode: 0o600, flag: 'wx' });
}
