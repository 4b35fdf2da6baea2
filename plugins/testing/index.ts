import { expectServer } from '../../kernel/index.ts'

export type { OpenWork } from '../shared/work/open-work.ts'
export { type TestClock, type TestClockOptions, testClock } from './clock.ts'
export type { MockCookie, MockHeaders } from './content.ts'
export { type DatabaseTemplate, type TestDatabase, type TestDatabaseOptions, testDatabase } from './database.ts'
export type { Leak, LeakKind } from './leaks/leak.ts'
export { type LeakOptions, LeakTracker, trackLeaks } from './leaks/track.ts'
export { type MockMethods, MockServer, type MockVerb, mockMethods } from './mock-server.ts'
export { type MockClose, MockSocket, type MockSocketOptions } from './mock-socket.ts'
export type { MockOptions, MockPart, MockQuery, MockValue } from './options.ts'
export { Outage, type OutageKind, type OutageOptions } from './outages/outage.ts'
export { OutageProxy, outageProxy } from './outages/proxy.ts'
export { outage, outageOf } from './outages/twin.ts'
export { type RecordMatch, TestRecord } from './record.ts'
export type { TestEmail, TestJob, TestMessage, TestObject, TestRecords, TestSocket } from './records.ts'
export { MockResponse } from './response.ts'
export { type TenantsReport, type TestedTenant, type TestTenantsOptions, testTenants } from './tenants.ts'
export * from './test-server.ts'

// The modules that a test imports wait for its server, however long the test takes to create it.
expectServer()
