import { invalidField } from '#domain/shared/errors.ts';
import { type FieldProblem, invalidRequest } from '#domain/shared/validation/validation-messages.ts';
import { digestOf } from '#domain/shared/values/digest.ts';
import { findUnstorable } from '#domain/shared/values/storable.ts';
import { parseStrictJson } from '#domain/shared/values/strict-json.ts';
import { Manifest, maxManifestBytes } from '../model.ts';
import { describeForm, findContradictions, findOtherRelease, findTricks } from './manifest-problems.ts';

/** A parsed manifest with its bytes. */
export interface ReadManifest {
  readonly bytes: Buffer;
  readonly digest: string;
  readonly manifest: Manifest;
}

/**
 * Reads the bytes of a manifest.
 * @throws Invalid if the bytes do not match the digest, are not JSON, or break a rule of manifests
 */
export function readManifest(
  encoded: string,
  { release, digest }: { readonly release: string; readonly digest: string },
): ReadManifest {
  const bytes = Buffer.from(encoded, 'base64');
  if (bytes.toString('base64') !== encoded) throw invalidField('manifest', 'expected base64 with padding');
  if (bytes.length > maxManifestBytes)
    throw invalidField('manifest', `has ${bytes.length} bytes: expected at most ${maxManifestBytes}`);
  if (digestOf(bytes) !== digest)
    throw invalidField('digest', `the bytes of the manifest have the digest ${digestOf(bytes)}`);
  refuseAmbiguous(bytes);
  const manifest = toManifest(parseJson(bytes), (declared) => [
    ...findContradictions(declared),
    ...findTricks(declared),
    ...findOtherRelease(declared, release),
  ]);
  return { bytes, digest, manifest };
}

/** Parses a staged manifest. @throws Invalid for bytes that are not a manifest */
export function parseManifest(bytes: Uint8Array): Manifest {
  return toManifest(parseJson(bytes), findContradictions);
}

/** @throws Invalid with the problems of the form or, if there are none, of the rules, up to the maximum of one answer */
function toManifest(value: unknown, findProblems: (declared: Manifest) => readonly FieldProblem[]): Manifest {
  const parsed = Manifest.safeParse(value);
  if (!parsed.success) throw invalidRequest(describeForm(value, parsed.error.issues));
  const unstorable = findUnstorable(parsed.data);
  if (unstorable !== null) throw invalidField('manifest', unstorable);
  const problems = findProblems(parsed.data);
  if (problems.length > 0) throw invalidRequest(problems);
  return parsed.data;
}

/** Refuses bytes that another program could read differently: for example, one may use the first of two members with the same name. */
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
