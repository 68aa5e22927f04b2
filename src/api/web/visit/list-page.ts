import type { FastifyReply } from 'fastify';
import type { Action } from '#domain/shared/actions.ts';
import { renderAction } from '../components/actions.ts';
import { renderConfirmation } from '../components/confirmation.ts';
import { renderPageHead } from '../components/page-head.ts';
import { renderEmpty, renderPages, renderTable, type Table } from '../components/table.ts';
import { type Html, html } from '../html.ts';
import { type LocalPath, type Query, withQuery } from '../paths.ts';
import type { Visit } from './visit.ts';

/** A page with one list of resources. */
export interface ListPage<Row> extends Omit<Table<Row>, 'caption'> {
  readonly title: string;
  /** A line below the title. */
  readonly below?: string;
  /** The path of the page, which contains no parameters. */
  readonly page: LocalPath;
  /** The part of the address that the links to other parts of the list keep. */
  readonly kept?: Query;
  /** The cursor of the next part of the list, if there is one. */
  readonly next?: string | null;
  /** The button for a new resource: whether the visitor may create one, the text, and the path of the form. */
  readonly create?: readonly [may: Action, label: string, path: LocalPath];
  /** Buttons that stand there in place of `create`. */
  readonly actions?: Html;
  /** Filters, and what else stands above the list. */
  readonly above?: Html | null;
  /** Describes the rows for screen readers, if the title does not. */
  readonly caption?: string;
  /** Shown for a list without rows: what belongs there, and the first step. */
  readonly empty: Parameters<typeof renderEmpty>;
}

/** Shows a page with one list: its head, the text about the last action, the rows, and the links to the other parts of the list. */
export function showList<Row>(visit: Visit, list: ListPage<Row>): Promise<FastifyReply> {
  const { title, page, kept = {}, rows, caption = title } = list;
  return visit.show({
    title,
    main: html`<div class="page page-wide">
${renderPageHead({ title, below: list.below ?? null, actions: renderButtons(list) })}
${renderConfirmation(visit, page)}
${list.above}
<div class="list-panel">${rows.length > 0 ? renderTable({ ...list, caption }) : renderEmpty(...list.empty)}</div>
${renderPages({ cursor: visit.query('cursor'), next: list.next ?? null }, (query) => withQuery(page, { ...kept, ...query }))}
</div>`,
  });
}

function renderButtons({ create, actions }: Pick<ListPage<unknown>, 'create' | 'actions'>): Html | null {
  if (!create) return actions ? html`<div class="actions">${actions}</div>` : null;
  const [may, label, path] = create;
  return html`<div class="actions">${renderAction(may, { label, icon: 'plus', tone: 'primary', path })}</div>`;
}
