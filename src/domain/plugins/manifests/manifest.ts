import type { z } from 'zod';
import { invalidField } from '#domain/shared/errors.ts';
import { formatPath } from '#domain/shared/validation/field-path.ts';
import { digestOf } from '#domain/shared/values/digest.ts';
import { findMisleading } from '#domain/shared/values/human-name.ts';
import { findUnstorable } from '#domain/shared/values/storable.ts';
import { parseStrictJson } from '#domain/shared/values/strict-json.ts';
import { isPluginSchema, isSystemSchema, largestManifest, Manifest, type Root } from '../model.ts';

/** A manifest that was read, with the bytes that it was read from. */
export interface ReadManifest {
  readonly bytes: Buffer;
  readonly digest: string;
  readonly manifest: Manifest;
}

/**
 * Reads the bytes of a manifest.
 * @throws Invalid for other bytes than the digest says, for what is not JSON, and for what breaks a rule of manifests
 */
export function readManifest(
  encoded: string,
  { release, digest }: { readonly release: string; readonly digest: string },
): ReadManifest {
  const bytes = Buffer.from(encoded, 'base64');
  if (bytes.toString('base64') !== encoded) throw invalidField('manifest', 'expected base64 with padding');
  if (bytes.length > largestManifest)
    throw invalidField('manifest', `has ${bytes.length} bytes: expected at most ${largestManifest}`);
  if (digestOf(bytes) !== digest)
    throw invalidField('digest', `the bytes of the manifest have the digest ${digestOf(bytes)}`);
  refuseAmbiguous(bytes);
  const manifest = parseManifest(bytes);
  if (manifest.release !== release)
    throw invalidField('manifest', `declares the release ${manifest.release}, not ${release}`);
  const problem = findTrick(manifest);
  if (problem !== null) throw invalidField('manifest', problem);
  return { bytes, digest, manifest };
}

/** Reads what was staged. @throws Invalid for bytes that are no manifest */
export function parseManifest(bytes: Uint8Array): Manifest {
  const parsed = Manifest.safeParse(parseJson(bytes));
  if (!parsed.success) throw invalidField('manifest', explain(parsed.error));
  const problem = findUnstorable(parsed.data) ?? findContradiction(parsed.data);
  if (problem !== null) throw invalidField('manifest', problem);
  return parsed.data;
}

/** Another program must not read another manifest from the same bytes: of a member that is given twice, one may take the first. */
function refuseAmbiguous(bytes: Uint8Array): void {
  const parsed = parseStrictJson(new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes));
  if (!parsed.ok) throw invalidField('manifest', parsed.problem.message.replace('the body', 'the manifest'));
}

function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    throw invalidField('manifest', 'expected JSON in UTF-8');
  }
}

/** At most so many problems are named: a manifest may have thousands. */
const mostProblems = 20;

function explain({ issues }: z.ZodError): string {
  const shown = issues.slice(0, mostProblems).map(({ path, message }) => `${formatPath(path.map(toPart))}: ${message}`);
  return [...shown, ...(issues.length > mostProblems ? ['and more'] : [])].join('; ');
}

function toPart(part: PropertyKey): string | number {
  return typeof part === 'symbol' ? String(part) : part;
}

function findContradiction({ actions, executions, resources }: Manifest): string | null {
  const twice =
    findTwice(actions.map(({ name }) => name)) ??
    findTwice(executions.map(({ name }) => name)) ??
    findTwice(resources.map(({ type }) => type));
  if (twice !== undefined) return `declares "${twice}" twice`;
  const names = new Set(actions.map(({ name }) => name));
  const stray = executions.find(({ action }) => !names.has(action));
  return stray ? `the execution "${stray.name}" names the action "${stray.action}", which is not declared` : null;
}

/** What would mislead those who read a manifest. Manifests that were staged before these rules are still read. */
function findTrick({ name, actions, resources }: Manifest): string | null {
  const misleading = findMisleading(name);
  if (misleading !== null) return `name: ${misleading}`;
  for (const { name, selectors, effects } of actions) {
    const twice = findTwice(selectors) ?? findTwice(effects);
    if (twice !== undefined) return `the action "${name}" names "${twice}" twice`;
  }
  for (const { type, roots } of resources) {
    if (findTwice(roots.map((root) => JSON.stringify(root))) !== undefined)
      return `the type "${type}" names a root twice`;
    const own = roots.find(({ schema }) => !isPluginSchema(schema));
    if (own) return `the type "${type}" names a root in ${describeOwn(own)}`;
  }
  return null;
}

/** No setting can allow these schemas. Which others are allowed is a setting that may change, so a restoration decides that. */
function describeOwn({ schema }: Root): string {
  const whose = isSystemSchema(schema) ? 'a schema of PostgreSQL itself' : 'the schema of the service itself';
  return (
    `${schema}, ${whose}, where no restoration ever looks: expected a schema that the plugin has for itself. When a resource is restored, ` +
    'COORDINATOR_PLUGIN_SCHEMAS has to name it'
  );
}

function findTwice(names: readonly string[]): string | undefined {
  return names.find((name, index) => names.indexOf(name) !== index);
}
