import type { WireRequest } from '../../protocol/request-schema.ts';
import type { InitCache } from '../initialization/init-cache.ts';
import { comparedFile, comparedSource, comparedVariable, placesOf } from '../initialization/places.ts';
import type { ToolSession } from '../session.ts';

/**
 * Returns a function that says from where a run can fetch a provider, and with which credentials. A run gets packages only from runs for which it
 * says the same, because others may have fetched what this one must not have.
 */
export function reachOf({ attempt }: ToolSession, cache: InitCache): (address: string) => string {
  const mirror = attempt.settings.providerNetworkMirror;
  return (address) => {
    const hosts = [address.split('/')[0], ...(mirror === null ? [] : [new URL(mirror).host])];
    return cache.keyOf(placesOf(attempt), credentialsFor(attempt.request, hosts));
  };
}

/** Variables and files from which the tools take credentials for registries, mirrors and archives. */
const holdsCredentials = ({ name }: { readonly name: string }) => /^TF_TOKEN_|^NETRC$/i.test(name);

/** The credentials that the tool may send to hosts. */
function credentialsFor(request: WireRequest, hosts: readonly unknown[]): object {
  const { environment, environmentFiles = [], moduleSources = [] } = request;
  return [
    environment.filter(holdsCredentials).map(comparedVariable),
    environmentFiles.filter(holdsCredentials).map(comparedFile),
    moduleSources.filter((source) => source.kind === 'registry' && hosts.includes(source.host)).map(comparedSource),
  ];
}
