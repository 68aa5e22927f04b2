import { type Html, html } from './html.ts';
import { pagePath, pages } from './paths.ts';

type Link = (id: string, text: string) => Html;

const toRun: Link = (id, text) => html`<a href="${pagePath(pages.run, { id })}">${text}</a>`;
const toMonitor: Link = (id, text) => html`<a href="${pagePath(pages.driftMonitor, { id })}">${text}</a>`;

const anId = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}';
/** The mentions in messages that become links: one thing by kind and id, or a list of runs. */
const named = new RegExp(
  `\\b(?:(?<one>(?:[Tt]he )?[rR]un|drift monitor) (?<id>${anId})|(?<many>(?<whole>assembly )?runs that have not ended): (?<ids>${anId}(?:, ${anId})*))\\b`,
  'g',
);

/**
 * A message of the service in which mentions of runs and drift monitors by their ids become links, because ids mean nothing to people. A
 * link reveals no more than the id: the page behind it checks who may read it.
 */
export function renderLinkedText(text: string): Html {
  const parts: (Html | string)[] = [];
  let end = 0;
  for (const match of text.matchAll(named)) {
    parts.push(text.slice(end, match.index), renderNamed(match.groups ?? {}));
    end = match.index + match[0].length;
  }
  return html`${[...parts, text.slice(end)]}`;
}

/** The same message without ids, for places that cannot have links, such as the hint of a button. */
export function withoutIds(text: string): string {
  return text.replace(named, (...match) => {
    const { one = '', many } = match.at(-1) as Readonly<Record<string, string | undefined>>;
    return many ?? wordsFor(one);
  });
}

function renderNamed({ one = '', id = '', many, whole, ids = '' }: Readonly<Record<string, string | undefined>>): Html {
  if (many === undefined) return (one === 'drift monitor' ? toMonitor : toRun)(id, wordsFor(one));
  // The page of an assembly run is found by its assembly, which the message does not name.
  if (whole !== undefined) return html`${many}`;
  const links = ids
    .split(', ')
    .map((each, index) => html`${index > 0 ? ', ' : null}${toRun(each, `run ${index + 1}`)}`);
  return html`${many}: ${links}`;
}

function wordsFor(one: string): string {
  if (one === 'drift monitor') return one;
  return /^[TR]/.test(one) ? 'Another run' : 'another run';
}
