/** The memo that names the installation in every workflow and schedule, so that another installation's is not taken for ours. */
export const installationMemo = 'installation_id';

/** A workflow or a schedule with this id exists, and another installation made it, or it was started with another input. */
export class ForeignWorkflow extends Error {
  constructor(id: string, kind: 'workflow' | 'schedule' = 'workflow') {
    super(`a ${kind} with the id ${id} exists that this installation did not start`);
    this.name = 'ForeignWorkflow';
  }
}
