import { type Crumb, renderPageHead } from '#api/web/components/page-head.ts';
import { renderSecret, secretScript } from '#api/web/components/secret.ts';
import { renderTime } from '#api/web/components/time.ts';
import type { FormPageDeclaration } from '#api/web/forms/form-page.ts';
import { refusalOf, revisionField } from '#api/web/forms/resource-forms.ts';
import { html } from '#api/web/html.ts';
import type { Page } from '#api/web/layout.ts';
import type { LocalPath } from '#api/web/paths.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import type { Action } from '#domain/shared/actions.ts';

type SigningVisit = Visit<{ id: string }>;

/** A webhook or channel that signs its messages, as its page shows it. */
interface Signing {
  readonly id: string;
  readonly name: string;
  readonly revision: number;
  readonly actions: readonly Action[];
}

/** The answer that shows a secret once. */
interface Issued {
  readonly id: string;
  readonly name: string;
  readonly secret: string | null;
  readonly overlap_until: unknown;
}

/** The pages of one kind of such things. */
interface Places {
  readonly crumbs: (thing: Pick<Issued, 'id' | 'name'>) => readonly Crumb[];
  readonly path: (thing: Pick<Issued, 'id'>) => LocalPath;
}

interface Rotation<Thing> extends Places {
  readonly read: (visit: SigningVisit) => Promise<Thing>;
  /** What is signed: "request" or "message". */
  readonly signed: string;
  readonly rotate: (visit: SigningVisit) => Promise<Issued>;
}

/** The form that replaces the secret of something, for `addFormPage`. */
export function rotationForm<Thing extends Signing>(
  rotation: Rotation<Thing>,
): FormPageDeclaration<{ id: string }, Thing> {
  const { read, crumbs, path, signed, rotate } = rotation;
  return {
    read,
    describe: (thing) => ({
      title: `Rotate the secret of ${thing.name}`,
      crumbs: crumbs(thing),
      lead: `A new secret is created and shown once. For 24 hours, each ${signed} is also signed with the old secret, so that you can update the endpoint without an interruption. Any older secret stops working now.`,
      fields: [revisionField(thing)],
      submit: 'Rotate the secret',
      cancel: path(thing),
      refusal: refusalOf(thing.actions, 'rotate'),
    }),
    carryOut: async (_thing, _typed, visit) => secretPage(rotation, await rotate(visit), 'Secret rotated.'),
  };
}

/** The answer to the form that created a secret. It is the only page that shows the secret. */
export function secretPage({ crumbs, path }: Places, issued: Issued, confirmation: string): Page {
  const { secret, overlap_until: until } = issued;
  const title = `The secret of ${issued.name}`;
  return {
    title,
    scripts: [secretScript],
    main: html`<div class="page page-narrow">
${renderPageHead({ title, crumbs: crumbs(issued) })}
<div class="panel stack">
<p>${confirmation} The endpoint uses the secret to verify that messages are genuine. Copy it now: it is not shown again.</p>
${renderSecret({ id: 'secret', label: 'Secret', value: secret ?? '' })}
${until ? html`<p class="muted">The old secret is also valid until ${renderTime(String(until))}.</p>` : null}
<div class="form-end"><a class="button button-primary" href="${path(issued)}">Done</a></div>
</div></div>`,
  };
}
