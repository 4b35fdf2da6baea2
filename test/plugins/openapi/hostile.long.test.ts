// The same with four times as many random applications.
import './hostile.test.ts'
