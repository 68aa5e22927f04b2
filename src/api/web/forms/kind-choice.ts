import { type Html, html } from '../html.ts';
import { type LocalPath, pagePath, type pages } from '../paths.ts';
import { scopeQuery } from '../visit/scope.ts';
import type { Visit } from '../visit/visit.ts';

/** The kinds that a new thing can have. The form of each kind has an address of its own. */
export interface KindChoice {
  readonly label: string;
  readonly kinds: readonly { readonly label: string; readonly path: LocalPath; readonly isChosen: boolean }[];
  /** Explains the chosen kind. */
  readonly about: string;
}

interface OfferedKinds {
  /** The form for a new thing. It reads the kind from the parameter `of`. */
  readonly page: typeof pages.newConnection | typeof pages.newNotificationChannel;
  /** The labels of the kinds, by their names in the address. */
  readonly labels: Readonly<Record<string, string>>;
  readonly chosen: string;
}

/** The kinds of a new thing, with links that keep the owner from the current address. */
export function offerKinds(visit: Visit, { page, labels, chosen }: OfferedKinds): KindChoice['kinds'] {
  const owner = { ...scopeQuery(visit.scope), project_id: visit.query('project_id') };
  return Object.entries(labels).map(([of, label]) => ({
    label,
    path: pagePath(page, {}, { ...owner, of }),
    isChosen: of === chosen,
  }));
}

const buttonName = 'other_kind';

/**
 * Buttons that open the form of another kind with what was typed so far. Fields that the other form does not have are lost.
 * @param hasFocus the visitor has just pressed one of the buttons
 */
export function renderKindChoice({ label, kinds, about }: KindChoice, hasFocus = false): Html {
  const buttons = kinds.map(
    ({ label, path, isChosen }) =>
      html`<li><button class="chip" type="submit" name="${buttonName}" value="yes" formaction="${path}" ${isChosen ? html`aria-current="true"` : null}${isChosen && hasFocus ? html` autofocus` : null}>${label}</button></li>`,
  );
  return html`<fieldset class="field"><legend>${label}</legend><ul class="chips" role="list">${buttons}</ul><p class="field-hint">${about}</p></fieldset>`;
}

/** The fields that the other form shares, if a button of the choice sent them; null if the form itself was submitted. */
export function takeOtherKind(body: unknown, names: readonly string[]): Record<string, unknown> | null {
  const sent = Object.entries(body ?? {});
  if (!sent.some(([name]) => name === buttonName)) return null;
  return Object.fromEntries(sent.filter(([name]) => names.includes(name)));
}
