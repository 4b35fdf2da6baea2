// The same with five times as many tampered values.
import './hostile.test.ts'
