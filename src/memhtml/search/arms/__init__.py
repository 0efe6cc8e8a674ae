"""What ranks, one module each. *Arms* read the question and find; *signals* only order.

An arm maps ids of memories in scope to scores, higher is better, in its own unit. A signal maps
ids that arms have found to values between 0 and 1.
"""
