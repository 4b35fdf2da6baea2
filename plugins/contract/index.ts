export type { CallOptions, ClientOptions as ContractClientOptions, HeaderValues } from './calls.ts'
export { contractClient } from './client.ts'
export { type Contract, type ContractRoute, defineContract } from './define.ts'
export type * from './types.ts'
