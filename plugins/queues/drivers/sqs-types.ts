// The used part of the client of SQS: its own types choose among the overloads of 23 commands at each call.

/** A message in the form of SQS. */
export interface Message {
  readonly MessageId?: string
  readonly Body?: string
  readonly ReceiptHandle?: string
  readonly Attributes?: { readonly [name: string]: string }
  readonly MessageAttributes?: { readonly [name: string]: { readonly StringValue?: string } }
}

export interface SqsResponse {
  readonly QueueUrl?: string
  readonly Attributes?: { readonly [name: string]: string }
  readonly MessageId?: string
  readonly Messages?: readonly Message[]
  readonly Successful?: readonly { readonly Id?: string; readonly MessageId?: string }[]
  readonly Failed?: readonly { readonly Id?: string; readonly Code?: string; readonly Message?: string }[]
}

type Command = new (input: object) => object

export interface SqsClient {
  send(command: object, options: { readonly abortSignal: AbortSignal }): Promise<SqsResponse>
  destroy(): void
}

export interface Sdk {
  readonly SQSClient: new (options: object) => SqsClient
  readonly ChangeMessageVisibilityCommand: Command
  readonly DeleteMessageBatchCommand: Command
  readonly GetQueueAttributesCommand: Command
  readonly GetQueueUrlCommand: Command
  readonly ListQueuesCommand: Command
  readonly ReceiveMessageCommand: Command
  readonly SendMessageBatchCommand: Command
  readonly SendMessageCommand: Command
}
