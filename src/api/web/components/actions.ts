import type { Action } from '#domain/shared/actions.ts';
import { type Html, html } from '../html.ts';
import { withoutIds } from '../linked-text.ts';
import { toSentence } from '../text.ts';
import { type IconName, renderIcon } from './icon.ts';

export type ButtonTone = 'plain' | 'primary' | 'danger';

export interface ActionButton {
  readonly label: string;
  readonly icon?: IconName;
  readonly tone?: ButtonTone;
  /** The page with the form of the action, or with the question to confirm it. */
  readonly path: string;
}

/**
 * A button for an action of a resource. If the visitor may not take the action now, the button stays in its place, is disabled, and says
 * why. The keyboard can still reach it, so that the reason can be read.
 */
export function renderAction({ name, allowed, reason }: Action, button: ActionButton): Html {
  const { label, icon, tone = 'plain', path } = button;
  const content = html`${icon ? renderIcon(icon) : null}${label}`;
  const style = `button button-${tone}`;
  if (!allowed) {
    const id = `why-not-${name.replace(/[_.]/g, '-')}`;
    return html`<span class="tipped"><button class="${style}" type="button" aria-disabled="true" aria-describedby="${id}">${content}</button><span class="tip" role="tooltip" id="${id}">${withoutIds(toSentence(reason ?? 'This is not possible now'))}</span></span>`;
  }
  return html`<a class="${style}" href="${path}">${content}</a>`;
}

/** The buttons for the listed actions, in the order of `buttons`. */
export function renderActions(actions: readonly Action[], buttons: Readonly<Record<string, ActionButton>>): Html {
  const byName = new Map(actions.map((action) => [action.name, action]));
  return html`<div class="actions">${Object.entries(buttons).map(([name, button]) => {
    const action = byName.get(name);
    return action ? renderAction(action, button) : null;
  })}</div>`;
}
