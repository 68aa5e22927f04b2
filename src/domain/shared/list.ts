import type { Em } from '#database/database.ts';
import { afterId, type Page, type PageRequest, toPage, type Where } from './paging.ts';

/**
 * A page of `select … where …`, newest first. The conditions are part of the query, so that a page is cut from what the
 * caller may see; `idColumn` is the column that orders it and is answered as `id`.
 */
export async function selectPage<Row extends { id: string }>(
  em: Em,
  select: string,
  where: Where,
  idColumn: string,
  request: PageRequest,
): Promise<Page<Row>> {
  where.andIf(afterId(request), `${idColumn} < ?`);
  const rows = await em.execute<Row[]>(`${select} and ${where.sql} order by ${idColumn} desc limit ?`, [
    ...where.params,
    request.limit + 1,
  ]);
  return toPage(rows, request);
}
