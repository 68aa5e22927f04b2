import type { FastifyReply } from 'fastify';
import { get as getEnvironment } from '#api/environments/operations.ts';
import { environmentCrumbs } from '#api/tenancy/pages/views.ts';
import { renderConfirmation } from '#api/web/components/confirmation.ts';
import { renderPageHead } from '#api/web/components/page-head.ts';
import { type FormField, labelsOf } from '#api/web/forms/fields/form-field.ts';
import { renderForm, renderKey } from '#api/web/forms/form.ts';
import { type FormProblems, requireRevision, submit } from '#api/web/forms/problems.ts';
import { toUtc } from '#api/web/forms/read-form.ts';
import { refusalOf } from '#api/web/forms/resource-forms.ts';
import { type Html, html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import { capitalize, toSentence } from '#api/web/text.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { weekdays } from '#domain/environments/freeze-windows.ts';
import { invalidField } from '#domain/shared/errors.ts';
import { changeFreezeWindows, getFreezeWindows } from '../environment-operations.ts';
import { renderFreezeWindow, type ShownWindow } from './labels.ts';

type EnvironmentVisit = Visit<{ id: string }>;

const names = [
  ...(['do', 'name', 'reason', 'start_day', 'start_time', 'end_day', 'end_time', 'time_zone'] as const),
  ...(['starts_at', 'ends_at', 'expected_revision'] as const),
] as const;
type Typed = Readonly<Record<(typeof names)[number], string>>;

/** Lists the freeze windows of an environment, each with a button that removes it, and a form for each kind of new window. */
export async function showFreezeWindows(visit: EnvironmentVisit): Promise<FastifyReply> {
  return show(visit, {}, null);
}

async function show(
  visit: EnvironmentVisit,
  typed: Partial<Typed>,
  problems: FormProblems | null,
): Promise<FastifyReply> {
  const { id } = visit.params;
  const [environment, { freeze_windows: windows, revision, actions }] = await Promise.all([
    visit.read(getEnvironment, { params: { id } }),
    visit.read(getFreezeWindows, { params: { id } }),
  ]);
  const action = pagePath(pages.freezeWindows, { id });
  const form = (kind: 'weekly' | 'once', fields: readonly FormField[]) =>
    renderForm({
      name: kind,
      action,
      fields: [
        ...fields,
        { name: 'do', label: '', kind: 'hidden' },
        { name: 'expected_revision', label: '', kind: 'hidden' },
      ],
      typed: {
        time_zone: 'UTC',
        ...(typed.do === kind ? typed : {}),
        do: kind,
        expected_revision: String(revision),
      } as Record<string, string>,
      submit: 'Add window',
      problems: typed.do === kind ? problems : null,
    });
  const title = 'Freeze windows';
  const refusal = refusalOf(actions, 'update');
  const page = {
    title,
    hasProblem: problems !== null,
    main: html`<div class="page">
${renderPageHead({
  title,
  crumbs: environmentCrumbs(environment, 'protection'),
  below: 'No apply starts in a freeze window. Runs can still plan and wait for review.',
})}
${renderConfirmation(visit, pages.freezeWindows)}
<section class="section" aria-labelledby="present"><div class="section-head"><h2 id="present">Current windows</h2></div>
<div class="panel">${windows.length === 0 ? 'No freeze windows.' : html`<ul class="rows">${windows.map((window) => renderRow(window, refusal === null ? renderRemoval(action, revision, window) : null))}</ul>`}</div></section>
${
  refusal === null
    ? html`<section class="section" aria-labelledby="weekly"><div class="section-head"><h2 id="weekly">Every week</h2><p class="muted">In a time zone, such as Friday 16:00 to Monday 07:00.</p></div>
<div class="panel">${form('weekly', weeklyFields)}</div></section>
<section class="section" aria-labelledby="once"><div class="section-head"><h2 id="once">Once</h2><p class="muted">Between two times, such as a holiday.</p></div>
<div class="panel">${form('once', onceFields)}</div></section>`
    : html`<p class="notice">${toSentence(refusal)}</p>`
}
</div>`,
  };
  return visit.show(page, problems?.status ?? 200);
}

function renderRow(window: ShownWindow, removal: Html | null): Html {
  return html`<li class="row"><div class="row-text"><p class="row-title foreign">${window.name}</p><p class="muted">${renderFreezeWindow(window)}</p></div>
${removal}</li>`;
}

function renderRemoval(action: string, revision: number, window: ShownWindow): Html {
  return html`<form method="post" action="${action}">${renderKey()}<input type="hidden" name="do" value="remove"><input type="hidden" name="name" value="${window.name}"><input type="hidden" name="expected_revision" value="${revision}">
<button class="button button-small" type="submit">Remove<span class="unseen"> ${window.name}</span></button></form>`;
}

const days = weekdays.map((day) => ({ value: day, label: capitalize(day) }));
const common: FormField[] = [
  { name: 'name', label: 'Name' },
  { name: 'reason', label: 'Reason', isOptional: true },
];
const weeklyFields: FormField[] = [
  ...common,
  { name: 'start_day', label: 'From', kind: 'select', choices: days },
  { name: 'start_time', label: 'Time', hint: 'Such as 16:00.' },
  { name: 'end_day', label: 'To', kind: 'select', choices: days },
  { name: 'end_time', label: 'Time', hint: 'Such as 07:00.' },
  { name: 'time_zone', label: 'Time zone', hint: 'Such as Europe/Berlin.' },
];
const onceFields: FormField[] = [
  ...common,
  { name: 'starts_at', label: 'From (UTC)', kind: 'datetime' },
  { name: 'ends_at', label: 'To (UTC)', kind: 'datetime' },
];

/** Adds or removes one window. The operation replaces the whole list, so the form contains the revision of the list that was shown. */
export async function submitFreezeWindow(visit: EnvironmentVisit): Promise<FastifyReply> {
  const typed = visit.form(...names);
  const { freeze_windows: present } = await visit.read(getFreezeWindows, { params: visit.params });
  const fields = [...names, ...Object.keys(pathsOf(present.length))];
  const labels = labelsOf([...weeklyFields, ...onceFields]);
  const result = await submit(visit, { names: fields, labels }, () => {
    requireRevision(visit);
    const windows =
      typed.do === 'remove' ? present.filter(({ name }) => name !== typed.name) : [...present, toWindow(typed)];
    return visit.run(changeFreezeWindows, { params: visit.params, body: { freeze_windows: windows } });
  });
  if (!result.done) return show(visit, typed, atFields(result.problems, present.length));
  return visit.redirect(pagePath(pages.freezeWindows, visit.params, { done: 'saved' }));
}

function toWindow({ do: kind, name, reason, ...typed }: Typed): Record<string, unknown> {
  const window = { name, reason };
  if (kind === 'once') return { ...window, starts_at: toUtc(typed.starts_at), ends_at: toUtc(typed.ends_at) };
  if (kind !== 'weekly') throw invalidField('do', 'choose a weekly or a one-time window');
  const weekly = {
    starts: { day: typed.start_day, time: typed.start_time },
    ends: { day: typed.end_day, time: typed.end_time },
  };
  return { ...window, weekly, time_zone: typed.time_zone };
}

/** The form's field for each path in a freeze window. */
const fieldOf: Readonly<Record<string, string>> = {
  name: 'name',
  reason: 'reason',
  starts_at: 'starts_at',
  ends_at: 'ends_at',
  time_zone: 'time_zone',
  'weekly.starts.day': 'start_day',
  'weekly.starts.time': 'start_time',
  'weekly.ends.day': 'end_day',
  'weekly.ends.time': 'end_time',
  'weekly.ends': 'end_time',
};

/** The paths of the new window in the body, where it is the last one of the list, with their fields. */
function pathsOf(index: number): Record<string, string> {
  return Object.fromEntries(
    Object.entries(fieldOf).map(([path, field]) => [`freeze_windows[${index}].${path}`, field]),
  );
}

/** Moves the problems of the new window to the fields of its form. */
function atFields(problems: FormProblems, index: number): FormProblems {
  const paths = pathsOf(index);
  const fields = Object.entries(problems.fields).map(([name, text]) => [paths[name] ?? name, text]);
  return { ...problems, fields: Object.fromEntries(fields) };
}
