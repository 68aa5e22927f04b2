/** The names of the executors on pages. */
export const executorWords = { opentofu: 'OpenTofu or Terraform', command: 'Commands' } as const;
