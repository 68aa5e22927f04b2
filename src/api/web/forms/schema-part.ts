import { Invalid } from '#domain/shared/errors.ts';
import { parsePath } from '#domain/shared/validation/field-path.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import { escapePointer } from '#domain/shared/values/json-pointer.ts';
import { type Html, html } from '../html.ts';
import type { PageProblem } from '../visit/operations.ts';
import type { FormProblems } from './problems.ts';
import type { SentFields } from './schema/decode.ts';
import { readEdit } from './schema/edit.ts';
import { type PlacedProblems, placeProblems } from './schema/places.ts';
import { holdsSecret, type ObjectNode } from './schema/plan/node.ts';
import { isSchemaField } from './schema/slots.ts';
import { knowsField } from './schema/unknown-fields.ts';
import {
  decodeVariables,
  editVariables,
  fillVariables,
  readVariables,
  type VariablesEntry,
} from './schema/variables.ts';
import { renderVariableFields } from './schema/view/variables.ts';

/** The part of a form that is made from a JSON Schema, such as the variables of the template that is chosen in the form. */
export interface SchemaPart {
  readonly root: ObjectNode;
  /** The values at first. Secrets are left out, because they are never shown again. */
  readonly values: Readonly<Record<string, JsonValue>>;
  /** For variables whose default does not apply when they are left empty: what applies instead, by slot. */
  readonly inherited: ReadonlyMap<string, string>;
  /** A comparison of each variable with its deployed value, by slot. */
  readonly comparisons?: ReadonlyMap<string, Html>;
  /** Identifies what the variables belong to. If the sent form has another value, its fields were those of another choice. */
  readonly of: string;
  /** Content above the fields, such as the button that shows those of another choice. */
  readonly lead: Html | null;
  /** The heading of the fields; "Variables" by default. */
  readonly title?: string;
  /** The text if there are no fields. */
  readonly none?: string;
}

/** The names of the fields that every form with such a part contains. */
const ofName = 'variables_of';
const editName = 'do';

/** What was sent for the part. */
export interface SentPart {
  readonly entry: VariablesEntry;
  /** A button inside the form was pressed. The form is shown again, and nothing is carried out. */
  readonly isEdit: boolean;
  /** The entered values belong to the variables that the form shows now. */
  readonly isCurrent: boolean;
}

/** Takes the fields of the part out of a sent form. */
export function splitSent(body: unknown): { readonly plain: Record<string, unknown>; readonly fields: SentFields } {
  const all = Object.entries(body ?? {});
  const isPart = (name: string) => isSchemaField(name) || name === ofName || name === editName;
  const fields = all
    .filter(([name]) => isPart(name))
    .map(([name, value]) => [name, [value].flat().map(String)] as const);
  return { plain: Object.fromEntries(all.filter(([name]) => !isPart(name))), fields: new Map(fields) };
}

/** @throws Invalid for a field that the form of these variables cannot have */
export function readPart({ root, of }: SchemaPart, sent: SentFields): SentPart {
  const edit = readEdit(sent.get(editName)?.[0] ?? '');
  const isSame = (sent.get(ofName)?.[0] ?? of) === of;
  const unknown = [...sent.keys()].find((name) => isSchemaField(name) && !knowsField(root, name));
  if (isSame && unknown !== undefined) throw new Invalid(`the form has no field ${JSON.stringify(unknown)}`);
  const decoded = decodeVariables(sent, root);
  const isCurrent = isSame || root.members.length === 0;
  return { entry: edit ? editVariables(root, decoded, edit) : decoded, isEdit: edit !== null, isCurrent };
}

/** The part of a form that was not sent yet. */
export function fillPart({ root, values }: SchemaPart): VariablesEntry {
  return fillVariables(root, values);
}

/** The values that were entered, and the problems that the page itself finds in them. */
export function valuesOf({ root }: SchemaPart, entry: VariablesEntry) {
  const { values, problems } = readVariables(root, entry);
  // The path stays empty, because the place of this part in the body differs between operations.
  return { values, problems: problems.map((each): PageProblem => ({ ...each, in: 'body', path: '' })) };
}

const noProblems = { status: 422, fields: {}, others: [] };

/** The problem if the visitor has chosen other variables than those that they filled in. */
export const otherFields: FormProblems = {
  ...noProblems,
  status: 409,
  others: ['The variables have changed. Fill them in, then submit the form again.'],
};

/** Finds the fields of the variables to which problems belong. */
export function placePart({ root }: SchemaPart, entry: VariablesEntry, problems: FormProblems | null): PlacedProblems {
  const details = problems?.code === 'variables_invalid' ? (problems.details ?? []) : [];
  const refused = details.map(({ path, message }) => ({ pointer: path, message }));
  const found = [...(problems?.inPart ?? []), ...refused];
  return placeProblems(root, { kind: 'object', members: entry.members, rows: [] }, found);
}

/**
 * The place in the part of a value that an operation names by its path in the body, such as `config.url`; undefined if the part does not
 * have it.
 */
export function pointIntoPart({ root }: SchemaPart, path: string): string | undefined {
  const names = parsePath(path).map(String);
  if (!root.members.some(({ name }) => name === names[0])) return undefined;
  return names.map((name) => `/${escapePointer(name)}`).join('');
}

/** The problems of a form, with those of its variables linked to their fields in the summary. */
export function withPlaced(
  problems: FormProblems,
  { listed, others }: PlacedProblems,
  entry: VariablesEntry,
): FormProblems {
  // An operation that checks only variables reports nothing besides the problems that were placed.
  const all = [...(problems.code === 'variables_invalid' ? [] : problems.others), ...others];
  if (entry.json === null) return { ...problems, others: all, listed };
  return { ...problems, others: [...all, ...listed.map(({ label, message }) => `${label}: ${message}`)] };
}

export function renderPart(part: SchemaPart, entry: VariablesEntry, placed: PlacedProblems, action: string): Html {
  const { root, inherited, comparisons, of, lead, none, title = 'Variables' } = part;
  const secrets = root.members.some(holdsSecret)
    ? html`<p class="muted">Secrets are never shown. Enter them again whenever you save the form.</p>`
    : null;
  return html`<section class="form-part" aria-labelledby="variables"><h2 id="variables">${title}</h2>
<input type="hidden" name="${ofName}" value="${of}">
${lead}${secrets}${renderVariableFields({ root, entry, action, problems: placed.bySlot, inherited, title, ...(comparisons && { comparisons }), ...(none && { none }) })}</section>`;
}
