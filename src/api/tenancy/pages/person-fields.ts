import { find } from '#api/members/people-operations.ts';
import type { EncodedAnswerOf } from '#api/pipeline/answers/answer-types.ts';
import type { Choice } from '#api/web/forms/fields/choices.ts';
import type { FormField } from '#api/web/forms/fields/form-field.ts';
import type { Typed } from '#api/web/forms/form-page.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { NotFound } from '#domain/shared/errors.ts';
import { isId } from '#domain/shared/ids.ts';

export type Person = EncodedAnswerOf<typeof find.responses>['people'][number];

/** The people whom a field offers. */
export interface PersonSearch {
  /** The name of the text field. Its value is a name, an e-mail address or an id. */
  readonly name: string;
  readonly isOptional?: boolean;
  /** Absent if both people and service accounts may be chosen. */
  readonly type?: Person['type'];
  /** Only members of this organization may be chosen. */
  readonly organizationId?: string;
  /** Others who may be chosen, such as service accounts that are not members of any organization yet. */
  readonly others?: readonly Person[];
}

/** The person whom a form names. */
export interface NamedPerson {
  /** Empty if the form names nobody who may be chosen. */
  readonly id: string;
  readonly outsider?: Person | undefined;
}

interface PersonField extends Pick<FormField, 'label' | 'hint' | 'value'>, PersonSearch {}

/** The longest e-mail address. */
const maxText = 254;

/** The name of the second field, in which a visitor chooses among the people whom the text matches. */
export function whoField(name: string): string {
  return `${name}_of_these`;
}

/**
 * The fields in which a visitor chooses a person by name or e-mail address: a text field with suggestions. If the form was sent and the
 * text does not identify one person, a second field lists all people whom it matches. `readPersonId` reads both.
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
  // A single match is preselected: sending the form again confirms it.
  const only = choices.length === 1 ? { value: choices[0]?.value } : {};
  return [text, { name: whoField(name), label: 'Who of these', kind: 'radio', choices, ...only }];
}

/**
 * The id of the person in these fields. The visitor enters the full name of a single person, an e-mail address or an id, or chooses one of
 * the people whom a partial name matches. If there is no such person, returns an empty text and adds a problem to the field, unless it is
 * optional and empty.
 */
export async function readPersonId(visit: Visit, search: PersonSearch, typed: Typed): Promise<string> {
  return (await readPerson(visit, search, typed)).id;
}

/** Like `readPersonId`. If the text matches only somebody who must join the organization first, returns that person as well. */
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
 * The person in these fields, whom the form adds with a role. If they are a member with another role already, adds a problem to the field:
 * adding a person must not silently change their role. That is done on the page of the membership.
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

/**
 * Why a text does not identify a person: it matches several people or only part of a name, or a person who must join the organization
 * first, or nobody.
 */
function describeUnclear(search: PersonSearch, found: readonly Person[], outsider: Person | undefined): string {
  if (found.length === 1) return `matches ${found[0]?.name} alone, who is chosen below: send the form again to confirm`;
  if (found.length > 1) return 'describes more than one person: choose who you mean below';
  if (outsider) return `${outsider.name} is not yet a member of the organization: add them there first`;
  return `matches nobody in your organizations. An owner or an administrator of the organization can invite new people by their e-mail address${describeAccounts(search)}`;
}

/** Who can find a service account, if one may be chosen. Service accounts cannot be invited. */
function describeAccounts({ type, organizationId }: PersonSearch): string {
  if (type === 'user') return '';
  return organizationId === undefined
    ? '. A service account that is not a member of an organization of yours is found only by those who manage it'
    : '. A service account is found once it is a member of the organization. Those who manage it can add it there';
}

/** The person who must join the organization first, if the text of a sent form matches nobody else. */
export async function readOutsider(visit: Visit, search: PersonSearch): Promise<Person | undefined> {
  const sent = readSent(visit, search.name);
  if (sent === '' || (await findPeople(visit, search, sent)).length > 0) return undefined;
  return findOutsider(visit, search, sent);
}

/** The only person whom a text identifies outside of the organization; undefined if there is none. */
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

/** The people whom the browser suggests for a field. Empty for visitors who may not search for people. */
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

/** The sent value of a field; empty if the form is shown for the first time. */
function readSent(visit: Visit, name: string): string {
  const value = new Map<string, unknown>(Object.entries(visit.request.body ?? {})).get(name);
  return typeof value === 'string' ? value.trim() : '';
}
