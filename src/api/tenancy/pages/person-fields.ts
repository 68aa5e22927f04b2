import { find } from '#api/members/people-operations.ts';
import type { EncodedAnswerOf } from '#api/pipeline/answers/answer-types.ts';
import type { Choice } from '#api/web/forms/fields/choices.ts';
import type { FormField } from '#api/web/forms/fields/form-field.ts';
import type { Typed } from '#api/web/forms/form-page.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { NotFound } from '#domain/shared/errors.ts';
import { isId } from '#domain/shared/ids.ts';

export type Person = EncodedAnswerOf<typeof find.responses>['people'][number];

/** Who may be chosen in a field. */
export interface PersonSearch {
  /** The name of the field that takes a text. Its value is a name, an e-mail address or an id. */
  readonly name: string;
  readonly isOptional?: boolean;
  /** Leave it out where both people and service accounts may be chosen. */
  readonly type?: Person['type'];
  /** Only members of this organization may be chosen. */
  readonly organizationId?: string;
  /** Others who may be chosen, such as service accounts that are nowhere a member yet. */
  readonly others?: readonly Person[];
}

/** Whom a form names. */
export interface NamedPerson {
  /** Empty if it names nobody who may be chosen. */
  readonly id: string;
  readonly outsider?: Person | undefined;
}

interface PersonField extends Pick<FormField, 'label' | 'hint' | 'value'>, PersonSearch {}

/** The longest e-mail address. */
const maxText = 254;

/** The name of the field in which a visitor chooses among those whom the text describes. */
export function whoField(name: string): string {
  return `${name}_of_these`;
}

/**
 * The fields in which a visitor chooses a person by name or e-mail address: a text with suggestions of the browser. If the form was sent and the text
 * names no person exactly, a second field lists all people whom the text matches. `readPersonId` reads both.
 */
export async function personFields(visit: Visit, field: PersonField): Promise<FormField[]> {
  const { name, label, hint, isOptional, value } = field;
  const text: FormField = {
    name,
    label,
    ...(hint !== undefined && { hint }),
    ...(isOptional && { isOptional }),
    ...(value !== undefined && { value }),
    suggestions: toSuggestions(await findPeople(visit, field, '')),
  };
  const sent = readSent(visit, name);
  const found = sent === '' || isId(sent) ? [] : await findPeople(visit, field, sent);
  const isOpen = found.length > 0 && exactly(found, sent) === undefined;
  const wasOpen = readSent(visit, whoField(name)) !== '';
  if (!isOpen && !wasOpen) return [text];
  const choices = found.map((person) => ({ value: person.id, label: describePerson(person) }));
  // The only one is chosen: sending the form again confirms it.
  const only = choices.length === 1 ? { value: choices[0]?.value } : {};
  return [text, { name: whoField(name), label: 'Who of these', kind: 'radio', choices, ...only }];
}

/**
 * The id of the person whom the fields describe. The visitor describes a person exactly, by a whole name that only one person has, an e-mail address or an
 * id, or chooses one of the people whom a part describes. Empty without such a person: then the field has that problem, unless it is optional and empty.
 */
export async function readPersonId(visit: Visit, search: PersonSearch, typed: Typed): Promise<string> {
  return (await readPerson(visit, search, typed)).id;
}

/** As `readPersonId`, with who must join the organization of the field first, if that is why the text names nobody. */
export async function readPerson(visit: Visit, search: PersonSearch, typed: Typed): Promise<NamedPerson> {
  const text = typed[search.name]?.trim() ?? '';
  if (text === '' && !search.isOptional) visit.addMissing(search.name, 'enter a name or an e-mail address');
  if (text === '' || (isId(text) && search.organizationId === undefined)) return { id: text };
  const found = await findPeople(visit, search, text);
  const outsider = found.length === 0 ? await findOutsider(visit, search, text) : undefined;
  // The operation refuses an id that may not be chosen.
  if (isId(text)) return { id: text, outsider };
  const chosen = found.find(({ id }) => id === typed[whoField(search.name)]) ?? exactly(found, text);
  if (chosen) return { id: chosen.id };
  visit.addProblem(search.name, describeUnclear(search, found, outsider));
  return { id: '', outsider };
}

/**
 * Whom the fields describe, to be added with a role. A member who is added with another role has that problem in the field, since adding people
 * must not take a role from anybody without a word: the page of the membership changes it.
 */
export async function readJoiner(
  visit: Visit,
  search: PersonSearch,
  typed: Typed,
  read: (id: string) => Promise<{ readonly name: string; readonly role: string }>,
): Promise<NamedPerson> {
  const named = await readPerson(visit, search, typed);
  const member = named.id === '' ? null : await read(named.id).catch(missing);
  if (!member || member.role === typed['role']) return named;
  visit.addProblem(
    search.name,
    `describes ${member.name}, who is a member already with the role ${member.role}: change the role on the page of the member`,
  );
  return { id: '' };
}

function missing(error: unknown): null {
  if (error instanceof NotFound) return null;
  throw error;
}

/** Why a text names no person: it describes several people or a part of a name, or a person who must join the organization first, or it matches none. */
function describeUnclear(search: PersonSearch, found: readonly Person[], outsider: Person | undefined): string {
  if (found.length === 1) return `matches ${found[0]?.name} alone, who is chosen below: send the form again to confirm`;
  if (found.length > 1) return 'describes more than one person: choose who you mean below';
  if (outsider) return `${outsider.name} is not yet a member of the organization: add them there first`;
  return `matches nobody in your organizations. An owner or an administrator of the organization can invite new people by their e-mail address${describeAccounts(search)}`;
}

/** By whom a service account is found, where one may be chosen: it cannot be invited. */
function describeAccounts({ type, organizationId }: PersonSearch): string {
  if (type === 'user') return '';
  return organizationId === undefined
    ? '. A service account that is not a member of an organization of yours is found only by those who manage it'
    : '. A service account is found once it is a member of the organization. Those who manage it can add it there';
}

/** Who must join the organization of the field first, if the form was sent with a text that names nobody else. */
export async function readOutsider(visit: Visit, search: PersonSearch): Promise<Person | undefined> {
  const sent = readSent(visit, search.name);
  if (sent === '' || (await findPeople(visit, search, sent)).length > 0) return undefined;
  return findOutsider(visit, search, sent);
}

/** The only person whom a text names where it names no member of the organization of the field; undefined if there is none. */
async function findOutsider(visit: Visit, search: PersonSearch, text: string): Promise<Person | undefined> {
  const { organizationId, ...anywhere } = search;
  if (organizationId === undefined) return undefined;
  const others = await findPeople(visit, anywhere, text);
  return exactly(others, text) ?? (others.length === 1 ? others[0] : undefined);
}

/** The person with an id, if the visitor may know them. */
export async function findPersonById(visit: Visit<unknown>, id: string): Promise<Person | undefined> {
  if (!visit.mayDo(find).allowed) return undefined;
  const { people } = await visit.read(find, { query: { q: id } });
  return people.find((person) => person.id === id);
}

async function findPeople(visit: Visit, search: PersonSearch, text: string): Promise<readonly Person[]> {
  const { type, organizationId, others = [] } = search;
  const query = {
    ...(text !== '' && { q: text.slice(0, maxText) }),
    ...(type && { type }),
    ...(organizationId && { organization_id: organizationId }),
  };
  const { people } = await visit.read(find, { query });
  const known = new Set(people.map(({ id }) => id));
  const called = others.filter(({ id, name }) => !known.has(id) && name.toLowerCase().includes(text.toLowerCase()));
  return [...people, ...called];
}

/** The people whom the browser suggests for a field. The list is empty for visitors who may not search for people. */
export async function suggestPeople(visit: Visit): Promise<Choice[]> {
  return visit.mayDo(find).allowed ? toSuggestions(await findPeople(visit, { name: '' }, '')) : [];
}

function exactly(found: readonly Person[], text: string): Person | undefined {
  const wanted = text.toLowerCase();
  const byAddress = found.find(({ email }) => email?.toLowerCase() === wanted);
  const [named, ...others] = found.filter(({ name }) => name.toLowerCase() === wanted);
  return byAddress ?? (others.length === 0 ? named : undefined);
}

function toSuggestions(people: readonly Person[]): Choice[] {
  return people.map((person) => ({ value: person.email ?? person.id, label: describePerson(person) }));
}

function describePerson({ name, email, enabled }: Person): string {
  return `${name}, ${email ?? 'service account'}${enabled ? '' : ' (disabled)'}`;
}

/** What a form was sent with in a field; empty where it is shown for the first time. */
function readSent(visit: Visit, name: string): string {
  const value = new Map<string, unknown>(Object.entries(visit.request.body ?? {})).get(name);
  return typeof value === 'string' ? value.trim() : '';
}
