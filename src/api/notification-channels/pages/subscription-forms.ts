import { list as listEnvironments } from '#api/environments/operations.ts';
import { list as listTeams } from '#api/teams/operations.ts';
import { behindProjects } from '#api/tenancy/pages/environment-choices.ts';
import { readTeamChoices } from '#api/tenancy/pages/team-choices.ts';
import { checkboxField } from '#api/web/forms/fields/checkbox.ts';
import type { Choices } from '#api/web/forms/fields/choices.ts';
import type { FormField } from '#api/web/forms/fields/form-field.ts';
import { nameChoices } from '#api/web/forms/fields/named-things.ts';
import { isYes } from '#api/web/forms/fields/yes.ts';
import { formPage, type Typed } from '#api/web/forms/form-page.ts';
import { readChosenId, refusalOf, revisionField } from '#api/web/forms/resource-forms.ts';
import { pages } from '#api/web/paths.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { labelOf, topicNames } from '#domain/news/model.ts';
import { HiddenResource } from '#domain/shared/errors.ts';
import { readNames } from '#domain/tenancy/names.ts';
import { update } from '../operations.ts';
import {
  type ChannelVisit,
  channelCrumbs,
  channelPath,
  describeEvents,
  describePlace,
  readShown,
  type ShownChannel,
} from './labels.ts';

type Shown = ShownChannel['subscriptions'][number];

/** The value of the field that chooses everything that the owner of the channel owns. */
const everything = 'everything';

const subscribeForm = formPage(pages.subscribeNotificationChannel, {
  read: async (visit) => {
    const channel = await readShown(visit);
    return { channel, places: await readPlaceChoices(visit, channel) };
  },
  describe: ({ channel, places }) => ({
    title: 'Add a subscription',
    crumbs: channelCrumbs(channel),
    lead: 'It applies to events from now on. An event that matches several subscriptions is sent once.',
    fields: [placeField(places), ...topicFields, revisionField(channel)],
    submit: 'Add subscription',
    cancel: channelPath(channel),
    refusal: refusalOf(channel.actions, 'update'),
  }),
  carryOut: async ({ channel }, typed, visit) => {
    const place = await toPlace(visit, typed);
    const events = topicNames.filter((topic) => isYes(typed[fieldOf(topic)]));
    if (events.length === 0) visit.addProblem('place', 'select at least one event below', 'subscriptions');
    const all = events.length === topicNames.length ? ['*'] : events;
    const added = { ...place, events: all };
    const saved = await save(visit, channel, [...channel.subscriptions.map(toBody), added]);
    const isCovered = typeof saved?.subscriptions.at(-1)?.covered_by === 'number';
    return channelPath(channel, isCovered ? 'subscribed-covered' : 'subscribed');
  },
});

const unsubscribeForm = formPage(pages.unsubscribeNotificationChannel, {
  read: async (visit) => {
    const channel = await readShown(visit);
    const subscription = channel.subscriptions[Number(visit.params.index)];
    if (!subscription) throw new HiddenResource('subscription');
    return { channel, subscription };
  },
  describe: ({ channel, subscription }) => ({
    title: 'Remove a subscription',
    crumbs: channelCrumbs(channel),
    lead: describeRemoval(channel, subscription),
    fields: [revisionField(channel)],
    submit: 'Remove subscription',
    tone: 'danger',
    cancel: channelPath(channel),
    refusal: refusalOf(channel.actions, 'update'),
  }),
  carryOut: async ({ channel, subscription }, _typed, visit) => {
    const others = channel.subscriptions.filter((each) => each !== subscription);
    await save(visit, channel, others.map(toBody));
    return channelPath(channel, 'unsubscribed');
  },
});

/** Says what the channel does without a subscription. */
function describeRemoval({ subscriptions }: ShownChannel, removed: Shown): string {
  const wider = removed.covered_by === null ? undefined : subscriptions[removed.covered_by];
  if (wider)
    return `The channel sends the same messages as before, because its subscription to ${describePlace(wider)} brings these events as well.`;
  const what = removed.events.includes('*') ? 'messages' : `messages of the kinds ${describeEvents(removed)}`;
  return `The channel stops sending ${what} about ${describePlace(removed)}. It still sends what its other subscriptions bring.`;
}

function save(visit: Visit<unknown>, { id }: ShownChannel, subscriptions: ReturnType<typeof toBody>[]) {
  return visit.run(update, { params: { id }, body: { subscriptions } });
}

function toBody({
  team_id: team,
  environment_id: environment,
  events,
}: Pick<Shown, 'team_id' | 'environment_id' | 'events'>) {
  return {
    ...(team !== null && { team_id: team }),
    ...(environment !== null && { environment_id: environment }),
    events,
  };
}

/** The name of a topic's field. It has no dot, because dots in field names lead into the body. */
function fieldOf(topic: string): string {
  return topic.replace('.', '-');
}

const topicFields = topicNames.map((topic) => checkboxField(fieldOf(topic), labelOf(topic), true));

function placeField({ choices, isCut }: Choices): FormField {
  return {
    name: 'place',
    label: 'About',
    kind: 'select',
    choices: [{ value: everything, label: 'Everything its owner owns' }, ...choices],
    isCut,
    choiceKinds: ['team', 'environment'],
    value: everything,
  };
}

/** The teams and environments at or below the owner of a channel that the visitor may see. */
async function readPlaceChoices(visit: ChannelVisit, channel: ShownChannel): Promise<Choices> {
  const { organization_id: organization, team_id: team, project_id: project } = channel;
  const [teams, { environments, next_cursor: next }] = await Promise.all([
    readTeams(visit, channel),
    visit.read(listEnvironments, {
      query: {
        ...(project !== null ? { project_id: project } : team !== null ? { team_id: team } : {}),
        ...(organization !== null && { organization_id: organization }),
        limit: '200',
      },
    }),
  ]);
  const places = await behindProjects(visit, environments);
  const ofEnvironments = await nameChoices(
    visit.em,
    places.map((place) => ({ ...place, before: 'Environment ' })),
  );
  return { choices: [...teams.choices, ...ofEnvironments], isCut: teams.isCut || next !== null };
}

/** The teams to choose from. A channel of a team or a project has none. */
async function readTeams(
  visit: ChannelVisit,
  { organization_id: orgID, team_id: team }: ShownChannel,
): Promise<Choices> {
  if (team !== null) return { choices: [], isCut: false };
  if (orgID === null) {
    const { choices, isCut } = await readTeamChoices(visit);
    return { choices: choices.map(({ value, label }) => ({ value, label: `Team ${label}` })), isCut };
  }
  const { teams, next_cursor: next } = await visit.read(listTeams, { params: { orgID }, query: { limit: '200' } });
  return { choices: teams.map(({ id, name }) => ({ value: id, label: `Team ${name}` })), isCut: next !== null };
}

/** The scope that the visitor chose. The operation refuses an id that is neither that of a team nor of an environment. */
async function toPlace(visit: Visit, { place = '' }: Typed) {
  if (place.trim() === everything) return {};
  const id = readChosenId(visit, 'place', place);
  if (id === null) return {};
  return (await readNames(visit.em, { teams: [id] })).has(id) ? { team_id: id } : { environment_id: id };
}

/** The forms that add and remove subscriptions of a channel. */
export const subscriptionForms = [subscribeForm, unsubscribeForm];
