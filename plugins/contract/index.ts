export { type ContractClientOptions, contractClient } from './client.ts'
export { type Contract, type ContractRoute, defineContract } from './define.ts'
export type {
  Answer,
  AnswerOf,
  CallInput,
  CallOptions,
  ContractClient,
  HeaderValues,
  JsonOf,
  OtherAnswer,
} from './types.ts'
