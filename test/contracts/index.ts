// The entry point `framework/testing/contracts`, for authors of adapters.
export { type CacheStoreOptions, testCacheStore } from './cache-store.ts'
export { type ChannelBusOptions, testChannelBus } from './channel-bus.ts'
export type { ContractOptions, DeclareTest, Make } from './contract.ts'
export { testCronLock } from './cron-lock.ts'
export { type LockStoreOptions, testLockStore } from './lock-store.ts'
export { type MqttBrokerOptions, testMqttBroker } from './mqtt-broker.ts'
export { type PluginTestOptions, testPlugin } from './plugin/index.ts'
export { type PortableQueueOptions, type QueueFeature, testPortableQueue } from './portable-queue.ts'
export {
  type EngineSource,
  type QueueContractOptions,
  type QueueEngineOptions,
  testQueueEngine,
} from './queue-engine.ts'
export {
  type QueueTransactionOptions,
  type TransactionClient,
  type TransactionPayload,
  type TransactionPool,
  testQueueTransaction,
} from './queue-transaction.ts'
export { testRateLimitStore } from './rate-limit-store.ts'
export { testSessionStore } from './session-store.ts'
export { type StorageProviderOptions, testStorageProvider } from './storage-provider.ts'
