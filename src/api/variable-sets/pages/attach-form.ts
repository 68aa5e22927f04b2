import type { z } from 'zod';
import { list as listEnvironments } from '#api/environments/operations.ts';
import { get as getProject, list as listProjects } from '#api/projects/operations.ts';
import { behindProjects } from '#api/tenancy/pages/environment-choices.ts';
import { linesOf } from '#api/tenancy/pages/place-lists.ts';
import { checkboxField } from '#api/web/forms/fields/checkbox.ts';
import type { FormField } from '#api/web/forms/fields/form-field.ts';
import { type NamedThing, nameChoices } from '#api/web/forms/fields/named-things.ts';
import { isYes } from '#api/web/forms/fields/yes.ts';
import { formPage, type Typed } from '#api/web/forms/form-page.ts';
import { refusalOf, revisionField } from '#api/web/forms/resource-forms.ts';
import { html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import { invalidField } from '#domain/shared/errors.ts';
import { isId } from '#domain/shared/ids.ts';
import { readNames } from '#domain/tenancy/names.ts';
import { getAttachments, replaceOfAttachments } from '../attachment-operations.ts';
import type { AttachmentsView } from '../views.ts';
import { readSet, type SetVisit, type ShownSet, setCrumbs } from './labels.ts';

/** A project or an environment below the owner of a set. */
interface Place {
  readonly type: 'project' | 'environment';
  readonly id: string;
  readonly name: string;
}

interface Subject {
  readonly set: ShownSet;
  readonly attachments: z.input<typeof AttachmentsView>;
  readonly places: readonly Place[];
  /** There are more than these. */
  readonly isCut: boolean;
}

/** The form that attaches a set to projects and environments. */
export const attachForm = formPage(pages.attachVariableSet, {
  read: readSubject,
  describe: (subject) => ({
    title: `Attach ${subject.set.name}`,
    crumbs: setCrumbs(subject.set),
    lead: describeLead(subject),
    fields: fieldsOf(subject),
    submit: 'Save',
    cancel: attachmentsPath(subject.set),
    refusal: refusalOf(subject.attachments.actions, 'replace_attachments'),
  }),
  carryOut: async ({ set, places }, typed, visit) => {
    const chosen = places.filter((place) => isYes(typed[fieldName(place)]));
    const others = await readOthers(visit, typed);
    const idsOf = (type: Place['type']) => {
      const ids = [...chosen, ...others].filter((place) => place.type === type).map(({ id }) => id);
      return [...new Set(ids)];
    };
    const body = { project_ids: idsOf('project'), environment_ids: idsOf('environment') };
    await visit.run(replaceOfAttachments, { params: { id: set.id }, body });
    return pagePath(pages.variableSet, { id: set.id }, { tab: 'attachments', done: 'attached' });
  },
});

function attachmentsPath({ id }: ShownSet) {
  return pagePath(pages.variableSet, { id }, { tab: 'attachments' });
}

async function readSubject(visit: SetVisit): Promise<Subject> {
  const set = await readSet(visit);
  const [attachments, offered] = await Promise.all([
    visit.read(getAttachments, { params: { id: set.id } }),
    readOffered(visit, set),
  ]);
  const attached = attachments.attachments.filter(({ effective }) => effective);
  const places = [...new Map([...attached, ...offered.places].map((place) => [place.id, place])).values()];
  return { set, attachments, places: places.sort(byName), isCut: offered.isCut };
}

/** Sorts by name. The name of an environment begins with that of its project, so it follows the project. */
function byName(one: Place, other: Place): number {
  return one.name === other.name ? 0 : one.name < other.name ? -1 : 1;
}

/** The projects and environments of the owner that the visitor may read, except archived ones. */
async function readOffered(
  visit: SetVisit,
  { organization_id, team_id, project_id }: ShownSet,
): Promise<Pick<Subject, 'places' | 'isCut'>> {
  const owner = team_id === null ? { organization_id: organization_id ?? '' } : { team_id };
  const [{ projects, next_cursor: moreProjects }, { environments, next_cursor: moreEnvironments }] = await Promise.all([
    project_id === null
      ? visit.read(listProjects, { query: { ...owner, limit: '200' } })
      : visit.read(getProject, { params: { id: project_id } }).then((own) => ({ projects: [own], next_cursor: null })),
    visit.read(listEnvironments, { query: { ...(project_id === null ? owner : { project_id }), limit: '200' } }),
  ]);
  const named = async (type: Place['type'], things: readonly NamedThing[]) =>
    (await nameChoices(visit.em, things)).map(({ value: id, label: name }) => ({ type, id, name }));
  const places = [
    ...(await named('project', projects)),
    ...(await named('environment', await behindProjects(visit, environments))),
  ];
  return { places, isCut: moreProjects !== null || moreEnvironments !== null };
}

function describeLead({ attachments: { attachments } }: Subject) {
  const lost = attachments.filter(({ effective }) => !effective);
  return html`<p>New runs get the variables in the selected places only.</p>${
    lost.length > 0
      ? html`<p>These were transferred after they were attached, and no longer get the variables. Saving detaches them, unless you select them again:</p>
<ul class="plain-list" role="list">${lost.map(({ name }) => html`<li class="foreign">${name}</li>`)}</ul>`
      : null
  }`;
}

function fieldName({ id }: Place): string {
  return `place-${id}`;
}

function fieldsOf({ set, places, isCut, attachments: { attachments } }: Subject): FormField[] {
  const attached = new Set(attachments.flatMap(({ id, effective }) => (effective ? id : [])));
  const boxes = places.map((place) => {
    const label = place.type === 'project' ? `${place.name}: all its environments` : place.name;
    return checkboxField(fieldName(place), label, attached.has(place.id));
  });
  const others: FormField = {
    name: 'others',
    label: 'Others',
    kind: 'area',
    isOptional: true,
    hint: 'There are more than these. Enter one name or ID of a project or an environment per line.',
  };
  return [...boxes, ...(isCut ? [others] : []), revisionField(set)];
}

/** The only project or environment with a name. @throws Invalid naming the field */
function onlyPlace(name: string, found: readonly string[]): string {
  const [only, ...others] = found;
  if (only !== undefined && others.length === 0) return only;
  const said = JSON.stringify(name.slice(0, 100));
  throw invalidField(
    'others',
    `${said} matches ${only === undefined ? 'no project or environment' : 'several of them'}`,
  );
}

const maxOthers = 200;

/**
 * Reads the typed names and ids. An id that belongs to no project counts as that of an environment; the operation reports it if there is no
 * such environment.
 */
async function readOthers(visit: SetVisit, { others }: Typed): Promise<Omit<Place, 'name'>[]> {
  const lines = linesOf(others);
  if (lines.length > maxOthers) throw invalidField('others', `has ${lines.length} lines: enter at most ${maxOthers}`);
  const found = await visit.findNamed(
    lines.filter((line) => !isId(line)),
    ['project', 'environment'],
  );
  const ids = lines.map((line) => (isId(line) ? line : onlyPlace(line, found(line))));
  const projects = await readNames(visit.em, { projects: ids });
  return ids.map((id) => ({ type: projects.has(id) ? 'project' : 'environment', id }));
}
