"""Mutation testing: do the fast tests notice when the code is changed?"""
