import { sql } from 'kysely';
import { heartbeatTimeoutSeconds } from './model.ts';

/** A heartbeat before this moment has expired. */
export const heartbeatExpiry = sql<string>`now() - make_interval(secs => ${sql.lit(heartbeatTimeoutSeconds)})`;
