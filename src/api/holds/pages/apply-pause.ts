import type { FastifyReply } from 'fastify';
import { renderPageHead } from '#api/web/components/page-head.ts';
import { renderTime } from '#api/web/components/time.ts';
import { renderForm } from '#api/web/forms/form.ts';
import { type FormProblems, submit } from '#api/web/forms/problems.ts';
import { html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { end, get, set } from '../apply-pause-operations.ts';
import { holdFields, toUtc } from './lock.ts';

const names = ['reason', 'until', 'expected_revision'] as const;

/** Shows whether all applies are paused, with the form to pause them or to go on. For administrators. */
export async function confirmPause(visit: Visit): Promise<FastifyReply> {
  return show(visit, {}, null);
}

async function show(visit: Visit, typed: Record<string, string>, problems: FormProblems | null): Promise<FastifyReply> {
  const { pause } = await visit.read(get);
  const title = pause ? 'All applies are paused' : 'Pause all applies';
  const page = {
    title,
    hasProblem: problems !== null,
    main: html`<div class="page page-narrow">
${renderPageHead({ title, crumbs: [{ label: 'Workers', path: pagePath(pages.workers) }] })}
${
  pause
    ? html`<div class="panel stack"><p>${pause.by.name} paused them ${renderTime(pause.since)}${pause.until ? html`, until ${renderTime(pause.until)}` : null}: <span class="foreign">${pause.reason}</span></p>
<form method="post" action="${pagePath(pages.resumeApplies)}"><button class="button button-primary" type="submit">End the pause</button></form></div>`
    : null
}
<div class="panel"><p class="consequences">Runs of the whole installation still plan and wait for review, but no apply starts. What already applies is not interrupted.</p>
${renderForm({
  action: pagePath(pages.pauseApplies),
  fields: holdFields.filter(({ name }) => name !== 'expected_revision'),
  typed,
  submit: pause ? 'Replace the pause' : 'Pause all applies',
  tone: 'danger',
  cancel: pagePath(pages.workers),
  problems,
})}</div></div>`,
  };
  return visit.show(page, problems?.status ?? 200);
}

export async function submitPause(visit: Visit): Promise<FastifyReply> {
  const { reason, until } = visit.form('reason', 'until');
  const result = await submit(visit, names, () => visit.run(set, { body: { reason, until: toUtc(until) } }));
  if (!result.done) return show(visit, { reason, until }, result.problems);
  return visit.redirect(pagePath(pages.pauseApplies));
}

export async function submitResumption(visit: Visit): Promise<FastifyReply> {
  visit.form();
  await visit.run(end);
  return visit.redirect(pagePath(pages.workers));
}
