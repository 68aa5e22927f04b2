import { Migration } from '@mikro-orm/migrations';

/** How much of a pool that several teams use one team, or one person, may hold. Pools that are there get the shares of new ones. */
export class PoolShares extends Migration {
  override up(): void {
    this.addSql(`alter table "worker_pools" add column "max_team_percent" int not null default 75,
      add column "max_person_percent" int not null default 50`);
  }
}
