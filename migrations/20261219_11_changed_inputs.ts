import { Migration } from '@mikro-orm/migrations';

/** Lists of instances say whether outputs are other ones by now that an instance was deployed with. */
export class ChangedInputs extends Migration {
  override up(): void {
    this.addSql(`alter table "instances" add column "inputs_changed_run_id" uuid null`);
  }
}
