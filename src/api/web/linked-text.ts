import { renderRunLink } from './components/links/run-link.ts';
import { type Html, html } from './html.ts';
import { pagePath, pages } from './paths.ts';

/** What messages name by kind and id, and the link that takes the place of both. */
const links: Readonly<Record<string, (id: string) => Html>> = {
  run: renderRunLink,
  'drift monitor': (id) => html`<a href="${pagePath(pages.driftMonitor, { id })}">drift monitor …${id.slice(-6)}</a>`,
};

const named = /\b(run|drift monitor) ([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})\b/g;

/**
 * A message of the service in which the runs and drift monitors that it names by their ids are links. Nobody is shown more by a link than by the id: the
 * page behind it decides who may read it.
 */
export function renderLinkedText(text: string): Html {
  const parts: (Html | string)[] = [];
  let end = 0;
  for (const match of text.matchAll(named)) {
    const [whole, kind = '', id = ''] = match;
    parts.push(text.slice(end, match.index), links[kind]?.(id) ?? whole);
    end = match.index + whole.length;
  }
  return html`${[...parts, text.slice(end)]}`;
}
