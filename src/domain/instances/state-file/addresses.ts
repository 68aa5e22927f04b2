import { createHash } from 'node:crypto';

/** One object of a resource, as a state describes it. */
export interface StateObject {
  readonly module: string | null;
  readonly type: string;
  readonly name: string;
  /** As the state writes it, such as `provider["registry.opentofu.org/hashicorp/aws"].west`. */
  readonly provider: string | null;
  /** The key of `count` or `for_each`; null if the resource has neither. */
  readonly key: string | number | null;
  /** The key of an object that waits to be destroyed because another has replaced it. */
  readonly deposed: string | null;
}

/** A deployed resource, without its attributes, which may be secrets. */
export interface DeployedResource {
  readonly address: string;
  readonly module: string | null;
  readonly type: string;
  readonly name: string;
  readonly provider: string | null;
}

const maxAddressLength = 4096;
const maxNameLength = 255;

/** The resource as the service lists it. Every text fits its column, whatever wrote the state. */
export function toDeployedResource(object: StateObject): DeployedResource {
  const { module, type, name, provider } = object;
  return {
    address: cut(addressOf(object), maxAddressLength),
    module: module === null ? null : cut(module, maxAddressLength),
    type: cut(type, maxNameLength),
    name: cut(name, maxNameLength),
    provider: provider === null ? null : cut(sourceOf(provider), maxNameLength),
  };
}

/** The address in the tool's own spelling, such as `module.net.aws_subnet.a["x"]`. */
function addressOf({ module, type, name, key, deposed }: StateObject): string {
  const resource = `${module === null ? '' : `${module}.`}${type}.${name}`;
  const index = key === null ? '' : `[${typeof key === 'number' ? key : quoteKey(key)}]`;
  return `${resource}${index}${deposed === null ? '' : deposedSuffix(deposed)}`;
}

/** The suffix, in the tool's own spelling, that distinguishes a deposed object from the one that has replaced it. */
export function deposedSuffix(key: string): string {
  return ` (deposed object ${key})`;
}

/** The characters that the tools escape: all except letters, marks, digits, signs and the plain space. */
const notPrinted = /[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu;
const shortEscapes: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** Writes a key as the tools do: with escapes for quotes, for the start of a template, and for characters that they do not print. */
function quoteKey(key: string): string {
  const escaped = key.replaceAll(/["\\]/g, '\\$&').replaceAll(/[$%](?=\{)/g, '$&$&');
  return `"${escaped.replaceAll(notPrinted, (sign) => shortEscapes[sign] ?? escapeSign(sign))}"`;
}

function escapeSign(sign: string): string {
  const digits = (sign.codePointAt(0) ?? 0).toString(16);
  return digits.length <= 4 ? `\\u${digits.padStart(4, '0')}` : `\\U${digits.padStart(8, '0')}`;
}

/** The source of a provider, without its alias. */
function sourceOf(provider: string): string {
  return /provider\["([^"]+)"\]/.exec(provider)?.[1] ?? provider;
}

/** PostgreSQL stores no NUL and no half of a character. A text that is cut keeps a digest, so that it stays unique. */
function cut(text: string, longest: number): string {
  const storable = text.replaceAll('\0', '\uFFFD').toWellFormed();
  if (storable.length <= longest) return storable;
  const digest = createHash('sha256').update(storable).digest('hex').slice(0, 16);
  return `${storable.slice(0, longest - digest.length - 1).toWellFormed()}…${digest}`;
}
