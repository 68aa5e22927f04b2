import type { ModuleSource } from '#domain/connections/module-sources/model.ts';
import type { Attempt } from '../../attempt/attempt.ts';
import type { EnvironmentFile, EnvironmentVariable } from '../../protocol/request.ts';

/** What decides from where `init` can fetch: it separates those who share what it fetched. */

/** The places that the operator chose, and what the pool lets the tool reach. */
export function placesOf({ settings, request }: Pick<Attempt, 'settings' | 'request'>): object {
  return {
    mirrors: [settings.providerMirror, settings.providerNetworkMirror, settings.providersDirect],
    egress: request.egress,
  };
}

/** A source of private modules and providers without its credential, which may differ in each attempt. */
export function comparedSource(source: ModuleSource): object {
  return { place: source.kind === 'git' ? source.url : source.host, identity: source.identity };
}

/** A variable without a value that differs in each attempt. */
export function comparedVariable(each: EnvironmentVariable): EnvironmentVariable {
  return each.identity === undefined ? each : { ...each, value: each.identity };
}

/** A file without a text that differs in each attempt. */
export function comparedFile({ name, text, identity }: EnvironmentFile): object {
  return { name, ...(identity === undefined ? { text } : { identity }) };
}
