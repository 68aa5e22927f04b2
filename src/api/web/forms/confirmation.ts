import { type Crumb, renderPageHead } from '../components/page-head.ts';
import { type Html, html } from '../html.ts';
import type { Page } from '../layout.ts';
import type { LocalPath } from '../paths.ts';
import { type Form, renderForm } from './form.ts';

export interface Confirmation extends Pick<Form, 'fields' | 'problems' | 'typed' | 'hasKey' | 'cancelLabel'> {
  /** What is about to happen, such as "Delete project network". */
  readonly title: string;
  readonly crumbs: readonly Crumb[];
  /** What goes, what stays, and what can bring it back. */
  readonly consequences: Html | string;
  /** The verb on the button, such as "Delete". */
  readonly verb: string;
  readonly action: LocalPath;
  readonly cancel: LocalPath;
}

/** A page that asks whether something that cannot simply be undone is meant. */
export function confirmationPage(confirmation: Confirmation): Page {
  const { title, crumbs, consequences, verb, problems } = confirmation;
  return {
    title,
    hasProblem: Boolean(problems),
    main: html`<div class="page page-narrow">
${renderPageHead({ title, crumbs })}
<div class="panel"><div class="consequences">${consequences}</div>
${renderForm({ ...confirmation, submit: verb, tone: 'danger' })}</div>
</div>`,
  };
}
