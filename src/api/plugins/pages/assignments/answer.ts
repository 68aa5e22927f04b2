import { renderCopiedId } from '#api/web/components/copied.ts';
import { renderFacts } from '#api/web/components/facts.ts';
import { renderStatusBadge, type StatusLook } from '#api/web/components/status.ts';
import { type Html, html } from '#api/web/html.ts';
import { toSentence } from '#api/web/text.ts';
import type { Obstacle } from '#domain/plugins/assignments/check.ts';
import { list } from '../../grant-operations.ts';
import { type PluginVisit, readPlaceNames, renderPlace, type ShownPlugin, sayPlace, subjectWords } from '../views.ts';
import { assignmentsPath } from './filters.ts';
import { type Answer, maxOffered, type NamedPlace, type TypedQuestion } from './question.ts';
import { renderGrants } from './table.ts';

const may: StatusLook = { word: 'Yes, now', icon: 'circle-check', tone: 'succeeded' };
const mayNot: StatusLook = { word: 'No', icon: 'ban', tone: 'failed' };

type Decided = Extract<Answer, { readonly kind: 'decided' }>;

/**
 * The answer to the visitor's question: yes, or no with the rule that refuses. If the question is ambiguous, the people or places that it
 * could mean.
 */
export async function renderAnswer(
  visit: PluginVisit,
  plugin: ShownPlugin,
  { question, answer }: { readonly question: TypedQuestion; readonly answer: Answer },
): Promise<Html> {
  if (answer.kind === 'decided') return renderDecided(visit, plugin, answer);
  if (answer.kind === 'refused')
    return html`<p class="notice notice-problem" role="status">${toSentence(answer.message)}</p>`;
  const link = (changes: object) => assignmentsPath(plugin.id, { ...question, ...changes });
  if (answer.kind === 'people') {
    const people = answer.people.map(
      ({ id, name, kind }) =>
        html`<li><a class="foreign" href="${link({ who: id })}">${name}</a> <span class="muted">${subjectWords[kind]}, ${id}</span></li>`,
    );
    return renderChoices('Whom do you mean?', people);
  }
  const places = answer.places.map(
    (place) =>
      html`<li><a href="${link({ where: `${place.type}:${place.id}` })}">${sayPlace(place.type, renderWay(place))} <span class="muted">${place.id}</span></a></li>`,
  );
  return renderChoices('Which place do you mean?', places);
}

/** The name of a place with the name of its parent before it: "Network / Production". */
function renderWay({ within, name }: NamedPlace): Html {
  const way = html`<span class="foreign">${name}</span>`;
  return within === null ? way : html`<span class="foreign">${within}</span> / ${way}`;
}

function renderChoices(title: string, choices: readonly Html[]): Html {
  const more =
    choices.length > maxOffered ? html`<p class="muted">There are more. Ask by the whole name or the id.</p>` : null;
  return html`<div class="panel stack" role="status"><h3>${title}</h3><ul class="decision-choices" role="list">${choices.slice(0, maxOffered)}</ul>${more}</div>`;
}

/** The steps of the decision, in their order. */
const steps = [
  'The place belongs to the owner of the plugin',
  'The plugin was not removed',
  'The active release declares the action',
  'Neither the place nor an owner of it is archived',
  'The ceiling approves the action',
  'It is assigned, at the place or around it',
  'The assignment is still in force',
] as const;

/** The step that refuses, for each reason except the end of an assignment. */
const refusing: Readonly<Record<Obstacle | 'not_assigned', (typeof steps)[number]>> = {
  outside_installation: 'The place belongs to the owner of the plugin',
  plugin_removed: 'The plugin was not removed',
  manifest_missing: 'The active release declares the action',
  action_not_declared: 'The active release declares the action',
  scope_ineligible: 'Neither the place nor an owner of it is archived',
  action_not_approved: 'The ceiling approves the action',
  not_assigned: 'It is assigned, at the place or around it',
};

/**
 * The index of the step that refuses; the number of steps if all pass. A refusal without an obstacle comes from an assignment that has
 * ended.
 */
function findFailing({ allowed, reason: { code }, obstacle }: Decided['explanation']): number {
  if (allowed) return steps.length;
  if (obstacle !== null) return steps.indexOf(refusing[obstacle]);
  return code === 'not_assigned' ? steps.indexOf(refusing.not_assigned) : steps.length - 1;
}

async function renderDecided(visit: PluginVisit, plugin: ShownPlugin, decided: Decided): Promise<Html> {
  const { subject, action, place, explanation } = decided;
  const names = await readPlaceNames(visit, [place]);
  const query = { installation_id: plugin.id, action_id: action.id, subject_id: subject.id, limit: '10' };
  const { grants } = await visit.read(list, { query });
  return html`<div class="panel stack" role="status"><h3>May <span class="foreign">${subject.name}</span> use <code class="foreign">${action.name}</code>?</h3>
<p class="decision">${renderStatusBadge(explanation.allowed ? may : mayNot)} <span>${toSentence(explanation.reason.message)}</span></p>
${renderSteps(explanation)}
${renderFacts([
  [
    'Who',
    html`<span class="foreign">${subject.name}</span> <span class="muted">${subjectWords[subject.kind]}${subject.enabled ? null : ', disabled or deleted'}</span>${renderCopiedId('the id of whom you ask about', subject.id)}`,
  ],
  ['Action', html`<code class="foreign">${action.name}</code>${renderCopiedId('the id of the action', action.id)}`],
  ['Where', html`${renderPlace(place, names)}${renderCopiedId('the id of the place', place.id)}`],
])}</div>
<h3>What was assigned to them</h3>
${
  grants.length > 0
    ? await renderGrants(visit, 'Assignments of this action to them, newest first', grants)
    : html`<p class="muted">This action was never assigned to <span class="foreign">${subject.name}</span> where you may read assignments.</p>`
}`;
}

function renderSteps(explanation: Decided['explanation']): Html {
  const failing = findFailing(explanation);
  return html`<ol class="decision-steps">${steps.map((label, index) => html`<li>${label}: ${renderStep(index, failing)}</li>`)}</ol>`;
}

function renderStep(index: number, failing: number): Html {
  if (index > failing) return html`<span class="muted">not checked</span>`;
  return html`<strong>${index === failing ? 'no' : 'yes'}</strong>`;
}
