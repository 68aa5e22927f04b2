/** How templates are executed, in words. */
export const executorWords = { opentofu: 'OpenTofu or Terraform', command: 'Commands' } as const;
