import { Resolver } from 'node:dns/promises';
import { readFile } from 'node:fs/promises';

export type ResolveName = (name: string) => Promise<readonly string[]>;

const hostsFile = '/etc/hosts';

/**
 * Looks names up in /etc/hosts and then by DNS. `dns.lookup` would do both, but each call blocks one of the process's few
 * threads until a slow name server answers, so one attempt could hold up the files and lookups of all others.
 */
export function openResolver(): { resolve: ResolveName; close: () => void } {
  const dns = new Resolver({ timeout: 2_000, tries: 2 });
  const resolve = async (name: string) => {
    const local = await addressesInHostsFile(name);
    return local.length > 0 ? local : await askDns(dns, name);
  };
  return { resolve, close: () => dns.cancel() };
}

/** Returns the addresses of both families. One family may be missing or fail if the other one answers. */
async function askDns(dns: Resolver, name: string): Promise<readonly string[]> {
  const answers = await Promise.allSettled([dns.resolve4(name), dns.resolve6(name)]);
  const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
  const failure = answers.find((answer) => answer.status === 'rejected' && !isMissing(answer.reason));
  if (addresses.length === 0 && failure?.status === 'rejected') throw failure.reason;
  return addresses;
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOTFOUND' || error.code === 'ENODATA');
}

async function addressesInHostsFile(name: string): Promise<readonly string[]> {
  const text = await readFile(hostsFile, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });
  return text
    .split('\n')
    .map((line) => line.replace(/#.*/, '').trim().split(/\s+/))
    .filter(([, ...names]) => names.some((known) => known.toLowerCase() === name))
    .map(([address]) => address ?? '');
}
