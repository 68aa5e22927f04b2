import type { PreparedQuery } from '#database/queries.ts';

/** How the query that finds a principal is sent: by itself or together with another one. It returns the first row. */
export type FindFirst = <Parameters extends object, Row>(
  query: PreparedQuery<Parameters, Row>,
  parameters: Parameters,
) => Promise<Row | undefined>;
