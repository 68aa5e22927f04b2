import type { DeployedResource } from '#domain/instances/state-file/addresses.ts';
import type { MaskedAddresses } from '#domain/instances/state-file/shown-resource.ts';
import { maxResources } from '#domain/instances/state-file/state-file.ts';
import type { Redactor } from '#domain/shared/redaction/redactor.ts';
import { distinctNames } from './masking.ts';

type Redact = (text: string) => string;

/**
 * The redacted addresses of the resources of a state that contain secrets. Addresses that differ only in secrets are numbered, so that each
 * resource stays distinct.
 */
export function maskAddresses(all: readonly DeployedResource[], redactor: Redactor): MaskedAddresses {
  if (redactor.isEmpty) return {};
  const resources = all.slice(0, maxResources);
  const addresses = distinctNames(
    resources.map(({ address }) => address),
    redactor,
  );
  const redact = rememberTexts(redactor);
  const entries = resources.map((resource, place) => [place, maskMembers(resource, addresses[place], redact)] as const);
  return Object.fromEntries(entries.filter(([, masked]) => Object.keys(masked).length > 0));
}

/** The members of a resource that contain a secret, redacted. */
function maskMembers(resource: DeployedResource, shown: string | undefined, redact: Redact): MaskedAddresses[string] {
  const { address, ...others } = resource;
  const masked: Record<string, string> = {};
  if (shown !== undefined && shown !== address) masked['address'] = shown;
  for (const [name, text] of Object.entries(others)) {
    if (text !== null && redact(text) !== text) masked[name] = redact(text);
  }
  return masked;
}

/** Caches redacted texts, because resources share modules, types, names and providers. */
function rememberTexts(redactor: Redactor): Redact {
  const known = new Map<string, string>();
  return (text) => {
    const shown = known.get(text) ?? redactor.redactText(text);
    known.set(text, shown);
    return shown;
  };
}
