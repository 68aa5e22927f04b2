import type { Entry, Row } from '#api/web/forms/schema/entry.ts';
import { itemNode } from '#api/web/forms/schema/entry.ts';
import { holdsSecret, type Node, type ObjectNode } from '#api/web/forms/schema/plan/node.ts';
import type { VariablesEntry } from '#api/web/forms/schema/variables.ts';
import { type KeyRing, type SealContext, SealUnopened } from '#domain/shared/secrets.ts';

/**
 * Secrets that were typed into a form that is shown again. A page never shows them, so the form carries them along sealed: only the service opens them, for the
 * same visitor and the same form, and not for long.
 */

const keptForMs = 60 * 60_000;

type Members = VariablesEntry['members'];

interface Carried {
  readonly at: number;
  readonly members: Members;
}

/** Whose form it is. */
export interface CarriedBy {
  readonly principalId: string;
  /** The id of the template or the assembly that it runs. */
  readonly subjectId: string;
  /** The idempotency key of the form. */
  readonly key: string;
}

const contextOf = ({ principalId, subjectId, key }: CarriedBy): SealContext => [
  'form-secrets',
  principalId,
  subjectId,
  key,
];

/** Seals the secrets that are entered; empty if none is. */
export function sealSecrets(keyRing: KeyRing, by: CarriedBy, root: ObjectNode, { members }: VariablesEntry): string {
  const named = root.members.filter((member) => hasSecretText(member, members[member.name]));
  if (named.length === 0) return '';
  const carried: Carried = {
    at: Date.now(),
    members: Object.fromEntries(named.map(({ name }) => [name, members[name] as Entry])),
  };
  return keyRing.sealJson(contextOf(by), carried).toString('base64url');
}

/** What was entered, with the carried secrets in the fields that were left empty; null: they are not those of this form, or have expired. */
export function addCarried(
  keyRing: KeyRing,
  by: CarriedBy,
  root: ObjectNode,
  { entry, carried }: { readonly entry: VariablesEntry; readonly carried: string },
): VariablesEntry | null {
  if (carried === '') return entry;
  const kept = openCarried(keyRing, by, carried);
  if (!kept) return null;
  const members = root.members.map((member) => {
    const sent = entry.members[member.name] as Entry;
    return [member.name, merge(member, sent, kept[member.name])];
  });
  return { ...entry, members: Object.fromEntries(members) };
}

function openCarried(keyRing: KeyRing, by: CarriedBy, carried: string): Members | null {
  try {
    const { at, members } = keyRing.openJson<Carried>(contextOf(by), Buffer.from(carried, 'base64url'));
    return Date.now() - at <= keptForMs ? members : null;
  } catch (error) {
    if (error instanceof SealUnopened) return null;
    throw error;
  }
}

/** Whether the node or a part of it has a secret that was entered. */
export function hasSecretText(node: Node, entry: Entry | undefined): boolean {
  if (!entry || !holdsSecret(node)) return false;
  if (entry.kind === 'text' || entry.kind === 'json') return entry.text !== '';
  if (entry.kind === 'object' && node.kind === 'object') {
    const { row } = node;
    return (
      node.members.some((member) => hasSecretText(member, entry.members[member.name])) ||
      (row !== null && entry.rows.some((each) => hasSecretText(row, each.entry)))
    );
  }
  if (entry.kind === 'array' && node.kind === 'array')
    return entry.items.some((each, index) => hasSecretText(itemNode(node, index) ?? node, each));
  if (entry.kind !== 'shapes' || node.kind !== 'shapes' || entry.shape === null) return false;
  const shape = node.shapes[entry.shape];
  return shape !== undefined && hasSecretText(shape, entry.entry ?? undefined);
}

/** Only a secret that is empty is filled in: everything else is as the form was sent. */
function merge(node: Node, sent: Entry, kept: Entry | undefined): Entry {
  if (!kept || kept.kind !== sent.kind || !holdsSecret(node)) return sent;
  if (sent.kind === 'text' || sent.kind === 'json') return sent.text === '' ? kept : sent;
  if (sent.kind === 'object' && kept.kind === 'object' && node.kind === 'object') {
    const { row } = node;
    const members = node.members.map((member) => [
      member.name,
      merge(member, sent.members[member.name] as Entry, kept.members[member.name]),
    ]);
    const rows = sent.rows.map((each, index): Row => {
      const before = kept.rows[index];
      return row && before ? { ...each, entry: merge(row, each.entry, before.entry) } : each;
    });
    return { ...sent, members: Object.fromEntries(members), rows };
  }
  if (sent.kind === 'array' && kept.kind === 'array' && node.kind === 'array')
    return {
      ...sent,
      items: sent.items.map((each, index) => merge(itemNode(node, index) ?? node, each, kept.items[index])),
    };
  if (sent.kind !== 'shapes' || kept.kind !== 'shapes' || node.kind !== 'shapes') return sent;
  const shape = sent.shape === null || sent.shape !== kept.shape ? undefined : node.shapes[sent.shape];
  if (!shape || !sent.entry) return sent;
  return { ...sent, entry: merge(shape, sent.entry, kept.entry ?? undefined) };
}
