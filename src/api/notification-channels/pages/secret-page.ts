import type { z } from 'zod';
import { renderPageHead } from '#api/web/components/page-head.ts';
import { renderSecret, secretScript } from '#api/web/components/secret.ts';
import { renderTime } from '#api/web/components/time.ts';
import { addFormPage } from '#api/web/forms/form-page.ts';
import { refusalOf, revisionField } from '#api/web/forms/resource-forms.ts';
import { html } from '#api/web/html.ts';
import type { Page } from '#api/web/layout.ts';
import { pages } from '#api/web/paths.ts';
import type { AddPage } from '#api/web/visit/route.ts';
import { rotate } from '../use-operations.ts';
import type { IssuedChannelView } from '../views.ts';
import { channelCrumbs, channelPath, readShown } from './words.ts';

/** Adds the form that replaces the secret of a webhook channel. */
export function registerChannelRotation(addPage: AddPage): void {
  addFormPage(addPage, pages.rotateNotificationChannel, {
    read: readShown,
    describe: (channel) => ({
      title: `Rotate the secret of ${channel.name}`,
      crumbs: channelCrumbs(channel),
      lead: 'A new secret is made and shown once. For 24 hours each message is signed by the old secret, too. An older one ends at once.',
      fields: [revisionField(channel)],
      submit: 'Rotate the secret',
      cancel: channelPath(channel),
      refusal: refusalOf(channel.actions, 'rotate'),
    }),
    carryOut: async ({ id }, typed, visit) => {
      const body = { expected_revision: Number(typed['expected_revision']) };
      return secretPage(await visit.run(rotate, { params: { id }, body }), 'The secret is replaced.');
    },
  });
}

/** The answer to the form that made a secret: the only page that shows it. */
export function secretPage(issued: z.input<typeof IssuedChannelView>, news: string): Page {
  const { secret, overlap_until: until, name } = issued;
  const title = `The secret of ${name}`;
  return {
    title,
    scripts: [secretScript],
    main: html`<div class="page page-narrow">
${renderPageHead({ title, crumbs: channelCrumbs(issued) })}
<div class="panel stack">
<p>${news} Give the secret to the endpoint, which checks by it that messages are genuine. Whoever loses it rotates it.</p>
${renderSecret({ id: 'secret', label: 'Secret', value: secret ?? '' })}
${until ? html`<p class="muted">The old secret signs, too, until ${renderTime(String(until))}.</p>` : null}
<div class="form-end"><a class="button button-primary" href="${channelPath(issued)}">Done</a></div>
</div></div>`,
  };
}
