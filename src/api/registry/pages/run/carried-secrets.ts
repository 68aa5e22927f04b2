import type { FormProblems } from '#api/web/forms/problems.ts';
import type { SentFields } from '#api/web/forms/schema/decode.ts';
import type { ObjectNode } from '#api/web/forms/schema/plan/node.ts';
import { mapSecrets, type SecretText, secretsIn } from '#api/web/forms/schema/secrets.ts';
import { slots } from '#api/web/forms/schema/slots.ts';
import { decodeVariables, type VariablesEntry } from '#api/web/forms/schema/variables.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { type SealContext, SealUnopened } from '#domain/shared/secrets.ts';
import { lostSecrets } from './run-form.ts';

/**
 * Secrets that were typed into a form that is shown again. The page does not show them. The form contains them sealed, and only the service
 * can open them, for the same visitor, in the same form and within an hour.
 */

const keptForMs = 60 * 60_000;

interface Carried {
  readonly at: number;
  /** By slot. */
  readonly secrets: Readonly<Record<string, SecretText>>;
}

/** A visit of a form that runs a template or an assembly. */
type FormVisit = Visit<{ readonly id: string }>;

/**
 * The context of the seal: the secrets can be opened only for the same visitor in the same form. `key` is the idempotency key of the form.
 */
const contextOf = ({ principal, params }: FormVisit, key: string): SealContext => [
  'entered-secrets',
  principal.id,
  params.id,
  key,
];

/** Seals the entered secrets; empty if there are none. */
export function sealSecrets(visit: FormVisit, key: string, root: ObjectNode, entry: VariablesEntry): string {
  const secrets = secretsIn(root, entry);
  if (secrets.size === 0) return '';
  const carried: Carried = { at: Date.now(), secrets: Object.fromEntries(secrets) };
  return visit.context.services.keyRing.sealJson(contextOf(visit, key), carried).toString('base64url');
}

/** The parts of a sent form that contain variables. */
interface Sent {
  readonly fields: SentFields;
  readonly key: string;
  /** The sealed secrets from the form before. */
  readonly carried: string;
  /** The variables whose deployed secrets the run does not take over. What was entered for them before is dropped too. */
  readonly omitted?: readonly string[];
}

/** What was entered into a form. */
interface Entered {
  readonly entry: VariablesEntry;
  /** A problem if the sealed secrets belong to another form, or have expired. The reader must learn in any case that they are lost. */
  readonly lost: FormProblems | null;
}

/** Reads the variables of a form, with the carried secrets in the fields that were left empty. */
export function readEntry(visit: FormVisit, root: ObjectNode, { fields, key, carried, omitted = [] }: Sent): Entered {
  const entry = decodeVariables(fields, root);
  if (carried === '') return { entry, lost: null };
  const kept = openCarried(visit, key, carried);
  if (!kept) return { entry, lost: lostSecrets };
  const isOmitted = (slot: string) => omitted.some((name) => `${slot}/`.startsWith(`${slots.member('', name)}/`));
  const filled = mapSecrets(root, entry, (text, slot) => {
    const before = kept.get(slot);
    return text.text === '' && before?.kind === text.kind && !isOmitted(slot) ? before : text;
  });
  return { entry: filled, lost: null };
}

function openCarried(visit: FormVisit, key: string, carried: string): Map<string, SecretText> | null {
  const { keyRing } = visit.context.services;
  try {
    const { at, secrets } = keyRing.openJson<Carried>(contextOf(visit, key), Buffer.from(carried, 'base64url'));
    return Date.now() - at <= keptForMs ? new Map(Object.entries(secrets)) : null;
  } catch (error) {
    if (error instanceof SealUnopened) return null;
    throw error;
  }
}
