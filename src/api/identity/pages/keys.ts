import type { z } from 'zod';
import type { Crumb } from '#api/web/components/page-head.ts';
import { renderPageHead } from '#api/web/components/page-head.ts';
import { renderSecret, secretScript } from '#api/web/components/secret.ts';
import { renderTime } from '#api/web/components/time.ts';
import type { FormField } from '#api/web/forms/fields/form-field.ts';
import type { Typed } from '#api/web/forms/form-page.ts';
import { html } from '#api/web/html.ts';
import type { Page } from '#api/web/layout.ts';
import type { LocalPath } from '#api/web/paths.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import type { IssuedKeyView } from '../views.ts';

/** Shared by the pages about keys of users and of service accounts. */

export const keyFields: readonly FormField[] = [
  { name: 'name', label: 'Name', hint: 'What it is for, such as the pipeline that uses it.' },
  {
    name: 'expires_at',
    label: 'Expires (UTC)',
    kind: 'datetime',
    isOptional: true,
    hint: 'Leave empty for a key that never expires.',
  },
];

/** The body of the operation that creates a key. */
export function toKeyBody(visit: Visit, { name, expires_at: expires }: Typed): Record<string, unknown> {
  return { name, ...(expires && { expires_at: toTime(visit, 'expires_at', expires) }) };
}

/**
 * Reads a time in UTC from a browser's field, such as `2026-11-22T14:00`. Any other text is returned unchanged, and adds a problem to the
 * visit.
 */
function toTime(visit: Visit, field: string, text: string): string {
  const time = new Date(`${text}Z`);
  if (!Number.isNaN(time.getTime())) return time.toISOString();
  visit.addProblem(field, 'must be a date and a time, such as 2026-11-22T14:00');
  return text;
}

export const overlapField: FormField = {
  name: 'overlap',
  label: 'Keep the old key valid for',
  kind: 'select',
  value: 'PT1H',
  choices: [
    { value: 'PT0S', label: 'no time: revoke it now' },
    { value: 'PT1H', label: '1 hour' },
    { value: 'P1D', label: '1 day' },
    { value: 'P7D', label: '7 days' },
  ],
  hint: 'The time that you need to replace the old key where it is used.',
};

export interface ShownKey {
  readonly title: string;
  readonly crumbs: readonly Crumb[];
  /** The page to which the visitor returns after copying the key. */
  readonly back: LocalPath;
}

/** The answer to the form that created a key. It is the only page that shows the key. */
export function issuedKeyPage({ api_key: apiKey, key }: z.input<typeof IssuedKeyView>, shown: ShownKey): Page {
  const { title, crumbs, back } = shown;
  return {
    title,
    scripts: [secretScript],
    main: html`<div class="page page-narrow">
${renderPageHead({ title, crumbs })}
<div class="panel stack">
<p>Give the key <strong class="foreign">${apiKey.name}</strong> to the program that uses it, as the header <code>X-API-Key</code>. Copy it now: it cannot be shown again.</p>
${renderSecret({ id: 'key', label: 'API key', value: key })}
${apiKey.expires_at ? html`<p class="muted">It expires ${renderTime(apiKey.expires_at)}.</p>` : html`<p class="muted">It never expires.</p>`}
<div class="form-end"><a class="button button-primary" href="${back}">Done</a></div>
</div></div>`,
  };
}
