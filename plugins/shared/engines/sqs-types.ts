// The used part of the client of SQS: its own types choose among the overloads of 23 commands at each call.

import type { Message } from '@aws-sdk/client-sqs'

export interface SqsResponse {
  readonly QueueUrl?: string
  readonly Attributes?: { readonly [name: string]: string }
  readonly MessageId?: string
  readonly Messages?: readonly Message[]
  readonly Successful?: readonly { readonly Id?: string; readonly MessageId?: string }[]
  readonly Failed?: readonly { readonly Id?: string; readonly Code?: string; readonly Message?: string }[]
}

/** The names of the used commands. */
export type SqsCall =
  | `${'Delete' | 'Send'}MessageBatch`
  | `Get${'QueueAttributes' | 'QueueUrl'}`
  | `${'Receive' | 'Send'}Message`
  | 'ChangeMessageVisibility'
  | 'ListQueues'
  | 'DeleteMessage'

export interface SqsClient {
  send(command: object, options: { readonly abortSignal: AbortSignal }): Promise<SqsResponse>
  destroy(): void
}

export type Sdk = { readonly SQSClient: new (options: object) => SqsClient } & {
  readonly [Name in SqsCall as `${Name}Command`]: new (
    input: object,
  ) => object
}
