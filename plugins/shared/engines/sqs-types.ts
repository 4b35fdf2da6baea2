import type * as sqs from '@aws-sdk/client-sqs'

type NameOf<Command> = Command extends `${infer Name}Command` ? Name : never

/** The names of the commands. */
export type SqsCall = NameOf<keyof typeof sqs>

/** The SDK with one type for all commands: its own chooses among the overloads of 23 at each call. */
export interface Sdk extends Readonly<Record<`${SqsCall}Command`, new (input: object) => sqs.SendMessageCommand>> {
  readonly SQSClient: typeof sqs.SQSClient
}

/** What is read of the responses. */
export type SqsResponse = Partial<sqs.SendMessageBatchResult> &
  Pick<sqs.GetQueueUrlResult, 'QueueUrl'> &
  Pick<sqs.GetQueueAttributesResult, 'Attributes'> &
  Pick<sqs.SendMessageResult, 'MessageId'> &
  Pick<sqs.ReceiveMessageResult, 'Messages'>
