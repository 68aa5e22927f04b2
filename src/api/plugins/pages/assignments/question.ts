import { type ActionDetails, findActionByName } from '#domain/plugins/assignments/action-store.ts';
import { type Explanation, explainCheck } from '#domain/plugins/assignments/explain.ts';
import { findKnownSubjects, type KnownSubject } from '#domain/plugins/assignments/subject-store.ts';
import { type Selector, selectorTypes } from '#domain/plugins/model.ts';
import { findPresentPlace } from '#domain/plugins/places/place-store.ts';
import { findCalled } from '#domain/search/search-store.ts';
import { ServiceError } from '#domain/shared/errors.ts';
import { isId } from '#domain/shared/ids.ts';
import type { NameMatch } from '#domain/shared/naming/name-match.ts';
import { inSnapshot } from '#domain/shared/snapshot.ts';
import { check } from '../../action-operations.ts';
import { assign } from '../../grant-operations.ts';
import type { PluginVisit, ShownPlugin } from '../views.ts';

/** A question in the address. */
export interface TypedQuestion {
  /** Undefined means the visitor. */
  readonly who: string | undefined;
  readonly what: string;
  readonly where: string;
}

/** A place that a question can mean. */
export interface NamedPlace extends Selector {
  readonly name: string;
  /**
   * The name of its parent: the project of an environment, the team of a project, the organization of a team, the plugin of a resource.
   * Null for an organization.
   */
  readonly within: string | null;
}

export type Answer =
  | { readonly kind: 'refused'; readonly message: string }
  | { readonly kind: 'people'; readonly people: readonly KnownSubject[] }
  | { readonly kind: 'places'; readonly places: readonly NamedPlace[] }
  | {
      readonly kind: 'decided';
      readonly subject: KnownSubject;
      readonly action: ActionDetails;
      readonly place: Selector;
      readonly explanation: Explanation;
    };

/** The maximum number of offers if a text matches several things. One more is read, to find out whether there are more. */
export const maxOffered = 10;
const max = maxOffered + 1;

export function readQuestion(visit: PluginVisit): TypedQuestion | null {
  const [who, what, where] = ['who', 'what', 'where'].map((name) => visit.query(name)?.trim() || undefined);
  return what === undefined || where === undefined ? null : { who, what, where };
}

/**
 * The answer that `check` would give to a principal. Visitors may ask about themselves, and about others if they may assign actions at the
 * place.
 */
export async function answer(visit: PluginVisit, plugin: ShownPlugin, question: TypedQuestion): Promise<Answer> {
  const { who = visit.principal.id, what, where } = question;
  const people = await findByName((match) =>
    findKnownSubjects(visit.em, visit.principal, { installationId: plugin.id, text: who, match, max }),
  );
  const [subject, ...others] = people;
  if (!subject) return refused(`no person that you know has the name, e-mail address or id "${who}"`);
  if (others.length > 0) return { kind: 'people', people };
  const action = await findActionByName(visit.em, plugin.id, what);
  if (!action) return refused(`no release of the plugin has declared an action "${what}"`);
  const typed = readSelector(where);
  if (typed) return decide(visit, { subject, action, place: typed });
  const places = await findByName((match) => findPlaces(visit, where, match));
  const [place, ...elsewhere] = places;
  if (!place) return refused(`there is no place with the name or id "${where}", or you may not read it`);
  if (elsewhere.length > 0) return { kind: 'places', places };
  return decide(visit, { subject, action, place: { type: place.type, id: place.id } });
}

/** Finds things whose whole name matches or, if there are none, things whose name contains the text. */
async function findByName<Found>(find: (match: NameMatch) => Promise<readonly Found[]>): Promise<readonly Found[]> {
  const found = await find('whole');
  return found.length > 0 ? found : find('part');
}

function refused(message: string): Answer {
  return { kind: 'refused', message };
}

async function decide(
  visit: PluginVisit,
  asked: { readonly subject: KnownSubject; readonly action: ActionDetails; readonly place: Selector },
): Promise<Answer> {
  const { subject, action, place: selector } = asked;
  const refusal = await findRefusal(visit, asked);
  if (refusal !== null) return refused(refusal);
  const explanation = await inSnapshot(visit.em, (snapshot) =>
    explainCheck(snapshot, { action, selector, subjectId: subject.id }),
  );
  return explanation ? { kind: 'decided', ...asked, explanation } : refused('the place was deleted meanwhile');
}

/** Why the visitor may not ask; null if they may. */
async function findRefusal(
  visit: PluginVisit,
  { subject, action, place }: { subject: KnownSubject; action: ActionDetails; place: Selector },
): Promise<string | null> {
  if (subject.id === visit.principal.id) return findOwnRefusal(visit, action, place);
  const { allowed, reason } = visit.mayDo(assign, await findPresentPlace(visit.em, place));
  return allowed ? null : `you may ask about others only where you may assign actions: ${reason}`;
}

/** Why visitors may not ask about themselves at a place. The operation decides that. */
async function findOwnRefusal(visit: PluginVisit, { id }: ActionDetails, selector: Selector): Promise<string | null> {
  try {
    await visit.read(check, { params: { id }, body: { selector } });
    return null;
  } catch (error) {
    if (error instanceof ServiceError) return error.message;
    throw error;
  }
}

/** The types of selectors for each kind of the search, the largest first. */
const selectorTypesOf = {
  organization: ['organization', 'organization_descendants'],
  team: ['team'],
  project: ['project'],
  environment: ['environment'],
  plugin_resource: ['resource'],
} as const;

/** Reads a selector in the form `type:id`. */
function readSelector(text: string): Selector | null {
  const [typed = '', id = ''] = text.split(':');
  const type = selectorTypes.find((each) => each === typed);
  return type && isId(id) ? { type, id } : null;
}

/** The places that a text may mean, by id or name. */
async function findPlaces(visit: PluginVisit, text: string, match: NameMatch): Promise<NamedPlace[]> {
  const places: NamedPlace[] = [];
  for (const kind of Object.keys(selectorTypesOf) as (keyof typeof selectorTypesOf)[]) {
    const found = await findCalled(visit.em, visit.principal, { kind, text, match, max });
    places.push(
      ...found.flatMap(({ id, name, context: within }) =>
        selectorTypesOf[kind].map((type) => ({ type, id, name, within })),
      ),
    );
  }
  return places.slice(0, max);
}
