import type { FastifyReply } from 'fastify';
import { get as getEnvironment } from '#api/environments/operations.ts';
import { renderPageHead } from '#api/web/components/page-head.ts';
import { confirmationPage } from '#api/web/forms/confirmation.ts';
import { renderForm } from '#api/web/forms/form.ts';
import { type FormProblems, submit } from '#api/web/forms/problems.ts';
import { html } from '#api/web/html.ts';
import { type LocalPath, pagePath, pages } from '#api/web/paths.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { lock, unlock } from '../environment-operations.ts';

type EnvironmentVisit = Visit<{ id: string }>;

const names = ['reason', 'until', 'expected_revision'] as const;

/** The fields of a lock or a pause. */
export const holdFields = [
  { name: 'reason', label: 'Reason', kind: 'area', maxLength: 1000, hint: 'Everybody who waits reads it.' },
  { name: 'until', label: 'Until (UTC)', kind: 'datetime', isOptional: true, hint: 'Empty: until somebody ends it.' },
  { name: 'expected_revision', label: 'Revision', kind: 'hidden' },
] as const;

/** The time of a form's field, which has no time zone and is meant in UTC. */
export function toUtc(local: string): string | null {
  return local === '' ? null : `${local.length === 16 ? `${local}:00` : local}Z`;
}

export async function showLockForm(visit: EnvironmentVisit): Promise<FastifyReply> {
  return showLock(visit, {}, null);
}

async function showLock(
  visit: EnvironmentVisit,
  typed: Record<string, string>,
  problems: FormProblems | null,
): Promise<FastifyReply> {
  const { id } = visit.params;
  const environment = await visit.read(getEnvironment, { params: { id } });
  const back = pagePath(pages.environment, { id });
  const title = `Lock ${environment.name}`;
  const page = {
    title,
    hasProblem: problems !== null,
    main: html`<div class="page page-narrow">
${renderPageHead({ title, crumbs: environmentCrumbs(environment.name, back) })}
<div class="panel"><p class="consequences">Its runs still plan and wait for review, but no apply starts. What already applies is not interrupted.</p>
${renderForm({
  action: pagePath(pages.lockEnvironment, { id }),
  fields: [...holdFields],
  typed: { expected_revision: String(environment.revision), ...typed },
  submit: 'Lock',
  cancel: back,
  problems,
})}</div></div>`,
  };
  return visit.show(page, problems?.status ?? 200);
}

export async function submitLock(visit: EnvironmentVisit): Promise<FastifyReply> {
  const typed = visit.form(...names);
  const body = {
    reason: typed.reason,
    until: toUtc(typed.until),
    ...(typed.expected_revision && { expected_revision: Number(typed.expected_revision) }),
  };
  const result = await submit(visit, names, () => visit.run(lock, { params: visit.params, body }));
  if (!result.done) return showLock(visit, { reason: typed.reason, until: typed.until }, result.problems);
  return visit.redirect(pagePath(pages.environment, visit.params, { done: 'locked' }));
}

export async function confirmUnlocking(visit: EnvironmentVisit): Promise<FastifyReply> {
  return showUnlocking(visit, null);
}

async function showUnlocking(visit: EnvironmentVisit, problems: FormProblems | null): Promise<FastifyReply> {
  const { id } = visit.params;
  const { name, lock: held } = await visit.read(getEnvironment, { params: { id } });
  const back = pagePath(pages.environment, { id });
  const page = confirmationPage({
    title: `Unlock ${name}`,
    crumbs: environmentCrumbs(name, back),
    consequences: html`${held ? html`<p>${held.by.name} locked it: <span class="foreign">${held.reason}</span></p>` : null}
<p>The applies that wait start at once.</p>`,
    verb: 'Unlock',
    fields: [],
    action: pagePath(pages.unlockEnvironment, { id }),
    cancel: back,
    problems,
  });
  return visit.show(page, problems?.status ?? 200);
}

export async function submitUnlocking(visit: EnvironmentVisit): Promise<FastifyReply> {
  visit.form();
  const result = await submit(visit, [], () => visit.run(unlock, { params: visit.params }));
  if (!result.done) return showUnlocking(visit, result.problems);
  return visit.redirect(pagePath(pages.environment, visit.params, { done: 'unlocked' }));
}

export function environmentCrumbs(name: string, path: LocalPath) {
  return [
    { label: 'Environments', path: pagePath(pages.environments) },
    { label: name, path },
  ];
}
